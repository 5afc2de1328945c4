// SPDX-License-Identifier: Apache-2.0

// A proxy with the plugin of Traefik, for yaegi, which interprets it in Traefik too: SETTINGS has those of each part that is on.
//
//	yaegi run traefik.go ADDRESS APPLICATION SETTINGS
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"

	"fleetprof/traefik"
)

// decided returns a handler behind the middleware.
func decided(handler http.Handler, part string, setting map[string]interface{}) http.Handler {
	config := traefik.CreateConfig()
	config.Rate = setting["rate"].(float64)
	if keyFile, has := setting["keyFile"]; has {
		config.Site, config.KeyFile = setting["site"].(string), keyFile.(string)
	}
	middleware, err := traefik.New(context.Background(), handler, config, part)
	if err != nil {
		log.Fatal(err)
	}
	return middleware
}

func main() {
	args := os.Args[len(os.Args)-3:]
	application, err := url.Parse(args[1])
	if err != nil {
		log.Fatal(err)
	}
	settings := map[string]map[string]interface{}{}
	if err := json.Unmarshal([]byte(args[2]), &settings); err != nil {
		log.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(application)
	mux := http.NewServeMux()
	mux.Handle("/", proxy)
	for part, setting := range settings {
		mux.Handle("/"+part+"/", decided(proxy, part, setting))
	}
	log.Fatal(http.ListenAndServe(args[0], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil // as Traefik 3 does: no type is guessed from the content
		mux.ServeHTTP(w, r)
	})))
}
