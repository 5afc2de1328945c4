module fleetprof

go 1.19
