// SPDX-License-Identifier: Apache-2.0

package fleetprof

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"
)

// sign returns the word of a sampled page: a token, or 1.TIME.NONCE without a key.
func (w *Writer) sign() string {
	nonce := make([]byte, 12)
	rand.Read(nonce)
	made := fmt.Sprintf("%d.%s", time.Now().Unix(), base64.RawURLEncoding.EncodeToString(nonce))
	if w.decider.key == nil {
		return "1." + made
	}
	mac := func(text string) []byte {
		hash := hmac.New(sha256.New, w.decider.key)
		hash.Write([]byte(text))
		return hash.Sum(nil)
	}
	signed := fmt.Sprintf("v1.%x.%s.%d.%s", mac("fleetprof key id")[:4], w.decider.site, int(math.Round(w.decider.rate*1e6)), made)
	return signed + "." + base64.RawURLEncoding.EncodeToString(mac(signed))
}

// announce decides, and changes the fields of the response.
func (w *Writer) announce() {
	header := w.Header()
	said, has := header["Document-Policy"]
	if w.status != 304 && (w.status < 200 || w.status > 299) || !isDocument(w.status, header.Get("Content-Type"), w.request) || w.status == 304 && !has {
		return
	}
	var draw [8]byte
	rand.Read(draw[:])
	profiled := float64(binary.LittleEndian.Uint64(draw[:])>>11)/(1<<53) < w.decider.rate && !isCacheable(header)
	text, policy := strings.Join(said, ", "), "js-profiling=?0"
	if profiled {
		policy = "js-profiling, js-profiling-mode=lazy"
	}
	if text != "" {
		policy = text + ", " + policy
	}
	own, isRead := members(text)
	isRead = isRead && len(policy) <= 4096
	switch {
	case isRead && (own["js-profiling"] == "?1" || token.MatchString(own["js-profiling-mode"])):
		return
	case isRead && own["js-profiling"]+own["js-profiling-mode"] == "":
		header["Document-Policy"] = []string{policy}
	default:
		profiled = false
	}
	timings := []string{`fleetprof;desc="0"`}
	if profiled {
		timings[0] = `fleetprof;desc="` + w.sign() + `"`
	}
	for _, line := range header["Server-Timing"] {
		others := []string{}
		all := split(line)
		for _, metric := range all {
			if !ourMetric.MatchString(metric) {
				others = append(others, metric)
			}
		}
		if len(others) < len(all) {
			line = strings.TrimSpace(strings.Join(others, ","))
		}
		if line != "" {
			timings = append(timings, line)
		}
	}
	header["Server-Timing"] = timings
	if profiled && w.status != 304 {
		header.Del("ETag")
		header.Del("Last-Modified")
	}
}
