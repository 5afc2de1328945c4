// SPDX-License-Identifier: Apache-2.0

// Package fleetprof picks the page loads that browsers may profile. The contract: docs/decision.md.
//
//	decided, err := fleetprof.New(0.001, "shop", "/etc/fleetprof/token.key")
//	http.ListenAndServe(":8080", decided(handler))
package fleetprof

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"regexp"
)

var (
	firstKey = regexp.MustCompile(`(?m)\A(?:[ \t]*(?:#.*)?\r?\n)*[ \t]*((?:[0-9A-Fa-f]{2}){32,128})[ \t\r]*$`)
	siteName = regexp.MustCompile(`^[\w.-]{1,64}$`)
)

// New makes a middleware. The rate is from 0 to 1; the first key of keyFile signs tokens of the site; without one, pages carry none.
func New(rate float64, site, keyFile string) (func(http.Handler) http.Handler, error) {
	if rate != 0 && !(rate >= 0.000001 && rate <= 1) {
		return nil, fmt.Errorf("fleetprof: rate %v is not 0, and not from 0.000001 to 1", rate)
	}
	var key []byte
	if keyFile != "" {
		text, err := os.ReadFile(keyFile)
		if err != nil {
			return nil, fmt.Errorf("fleetprof: %w", err)
		}
		found := firstKey.FindSubmatch(text)
		if found == nil {
			return nil, fmt.Errorf("fleetprof: %s: the first key is not 32 to 128 bytes as hexadecimal digits", keyFile)
		}
		if !siteName.MatchString(site) {
			return nil, fmt.Errorf("fleetprof: site %q is not 1 to 64 of A-Z a-z 0-9 . _ -", site)
		}
		key, _ = hex.DecodeString(string(found[1]))
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			decided := &writer{ResponseWriter: w, request: r.Header, rate: rate, site: site, key: key}
			next.ServeHTTP(decided, r)
			decided.send()
		})
	}, nil
}
