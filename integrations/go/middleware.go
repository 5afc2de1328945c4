// SPDX-License-Identifier: Apache-2.0

// Package fleetprof picks the page loads that browsers may profile. The contract: docs/decision.md.
//
//	decider, err := fleetprof.New(0.001, "shop", "/etc/fleetprof/token.key")
//	http.ListenAndServe(":8080", decider.Handler(handler))
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

// A Decider decides for one site, at one rate.
type Decider struct {
	rate float64
	site string
	key  []byte

	// FlushesParts sends each part of a response without a length at once, where who writes it cannot see that a Writer has Flush.
	FlushesParts bool
}

// New makes a Decider. The rate is from 0 to 1; the first key of keyFile signs tokens of the site; without one, pages carry none.
func New(rate float64, site, keyFile string) (*Decider, error) {
	if rate != 0 && !(rate >= 0.000001 && rate <= 1) {
		return nil, fmt.Errorf("fleetprof: rate %v is not 0, and not from 0.000001 to 1", rate)
	}
	if keyFile == "" {
		return &Decider{rate: rate}, nil
	}
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
	key, err := hex.DecodeString(string(found[1]))
	return &Decider{rate: rate, site: site, key: key}, err
}

// Handler returns a middleware that announces decisions in the responses of another handler.
func (d *Decider) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		decided := d.Writer(w, r)
		next.ServeHTTP(decided, r)
		decided.Close()
	})
}

// Writer returns a writer that announces a decision. Its Close ends the response.
func (d *Decider) Writer(w http.ResponseWriter, r *http.Request) *Writer {
	return &Writer{ResponseWriter: w, decider: d, request: r.Header}
}
