module fleetprof/traefik

go 1.19

require fleetprof v0.0.0

replace fleetprof => ../go
