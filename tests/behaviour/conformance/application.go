// SPDX-License-Identifier: Apache-2.0

// The application of the conformance test (conformance/application.mjs) in Go, with the middleware where a part is on.
//
//	application ADDRESS CASES KEY
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"

	"fleetprof"
)

type answer struct {
	Status int
	Fields [][2]string
}

var data struct {
	Servers map[string]*struct {
		Rate string
		Key  bool
	}
	Rates []struct{ Name string }
	Cases []struct {
		Name   string
		Answer answer
	}
}

// latin1 returns a text as the bytes that Node's client reads it from.
func latin1(text string) string {
	bytes := []byte{}
	for _, one := range text {
		bytes = append(bytes, byte(one))
	}
	return string(bytes)
}

func main() {
	text, err := os.ReadFile(os.Args[2])
	if err == nil {
		err = json.Unmarshal(text, &data)
	}
	if err != nil {
		log.Fatal(err)
	}
	answers := map[string]answer{}
	for _, one := range data.Cases {
		answers[one.Name] = one.Answer
	}
	for _, one := range data.Rates {
		answers[one.Name] = answer{Fields: [][2]string{{"Content-Type", "text/html"}}}
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said, has := answers[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]]
		w.Header()["Content-Type"] = nil
		for _, field := range said.Fields {
			w.Header().Add(field[0], latin1(field[1]))
		}
		if !has {
			said.Status = 404
		}
		if said.Status != 0 {
			w.WriteHeader(said.Status)
		}
		if said.Status != 304 {
			w.Write([]byte("<!doctype html><title>a page</title>"))
		}
	})
	mux := http.NewServeMux()
	for part, setting := range data.Servers {
		decided := http.Handler(handler)
		if setting != nil {
			percent, err := strconv.ParseFloat(strings.TrimSuffix(setting.Rate, "%"), 64)
			keyFile := ""
			if setting.Key {
				keyFile = os.Args[3]
			}
			decider, wrong := fleetprof.New(percent/100, "shop", keyFile)
			if err != nil || wrong != nil {
				log.Fatal(err, wrong)
			}
			decided = decider.Handler(handler)
		}
		mux.Handle("/"+part+"/", decided)
	}
	log.Fatal(http.ListenAndServe(os.Args[1], mux))
}
