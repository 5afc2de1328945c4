// SPDX-License-Identifier: Apache-2.0

// Package traefik is a plugin of Traefik 3: a middleware. The contract: docs/decision.md.
//
// In Traefik's working folder, `plugins-local/src/fleetprof/` has the files of `go/`, and `plugins-local/src/fleetprof/traefik/` those
// of `traefik/`. In the static configuration:
//
//	experimental: { localPlugins: { fleetprof: { moduleName: fleetprof/traefik } } }
//
// In the dynamic one, and the middleware in the routers of the pages:
//
//	http: { middlewares: { fleetprof: { plugin: { fleetprof: { rate: 0.001, site: shop, keyFile: /etc/fleetprof/token.key } } } } }
package traefik

import (
	"context"
	"fmt"
	"net/http"

	"fleetprof"
)

// Config has what fleetprof.New takes. Without KeyFile, pages carry no token.
type Config struct {
	Rate    float64 `json:"rate"`
	Site    string  `json:"site,omitempty"`
	KeyFile string  `json:"keyFile,omitempty"`
}

// CreateConfig returns what holds where the configuration says nothing: no page is sampled.
func CreateConfig() *Config { return &Config{} }

// New makes the middleware.
func New(_ context.Context, next http.Handler, config *Config, name string) (http.Handler, error) {
	decider, err := fleetprof.New(config.Rate, config.Site, config.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("middleware %s: %w", name, err)
	}
	decider.FlushesParts = true // interpreted types show Traefik only the methods of http.ResponseWriter
	return decider.Handler(next), nil
}
