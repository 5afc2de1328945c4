// The report's script.
