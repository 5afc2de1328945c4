// SPDX-License-Identifier: Apache-2.0

// Package caddy is the directive `fleetprof RATE [SITE KEY_FILE]` of Caddy 2. The contract: docs/decision.md.
//
// A program of yours is Caddy with it:
//
//	import (
//		_ "fleetprof/caddy"
//		caddycmd "github.com/caddyserver/caddy/v2/cmd"
//		_ "github.com/caddyserver/caddy/v2/modules/standard"
//	)
//
//	func main() { caddycmd.Main() }
//
// In the Caddyfile, first in a `route`:
//
//	fleetprof 0.001 shop /etc/fleetprof/token.key
package caddy

import (
	"net/http"
	"strconv"

	"fleetprof"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

func init() {
	caddy.RegisterModule(&Handler{})
	httpcaddyfile.RegisterHandlerDirective("fleetprof", parse)
}

// Handler announces the decision in the responses of the handlers behind it.
type Handler struct {
	Rate    float64 `json:"rate"`
	Site    string  `json:"site,omitempty"`
	KeyFile string  `json:"key_file,omitempty"`

	decider *fleetprof.Decider
}

// CaddyModule is of caddy.Module.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.fleetprof", New: func() caddy.Module { return new(Handler) }}
}

// Provision is of caddy.Provisioner.
func (h *Handler) Provision(caddy.Context) (err error) {
	h.decider, err = fleetprof.New(h.Rate, h.Site, h.KeyFile)
	return err
}

// ServeHTTP is of caddyhttp.MiddlewareHandler. Where a handler failed, Caddy writes the response.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	decided := h.decider.Writer(w, r)
	err := next.ServeHTTP(decided, r)
	if err == nil {
		decided.Close()
	}
	return err
}

func parse(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	handler, rate := new(Handler), ""
	h.Next()
	switch args := h.RemainingArgs(); len(args) {
	case 1:
		rate = args[0]
	case 3:
		rate, handler.Site, handler.KeyFile = args[0], args[1], args[2]
	default:
		return nil, h.ArgErr()
	}
	var err error
	if handler.Rate, err = strconv.ParseFloat(rate, 64); err != nil {
		return nil, h.Errf("the rate %s is not a number", rate)
	}
	return handler, nil
}
