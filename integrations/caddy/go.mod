module fleetprof/caddy

go 1.19

require (
	fleetprof v0.0.0
	github.com/caddyserver/caddy/v2 v2.6.2
)

replace fleetprof => ../go
