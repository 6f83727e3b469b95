// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Command probe is what the testbed's own tests run in pods: a server whose
// readiness can be switched, and small clients of what a pod relies on.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch args[0] {
	case "serve":
		return serve()
	case "webhook":
		return webhook(args[1], args[2])
	case "lookup":
		addresses, err := net.LookupHost(args[1])
		fmt.Println(strings.Join(addresses, " "))
		return err
	case "get":
		return get(args[1], args[2])
	case "whoami":
		return whoami()
	case "write":
		return os.WriteFile(args[1], []byte(args[2]), 0o644)
	case "read":
		data, err := os.ReadFile(args[1])
		fmt.Print(string(data))
		return err
	}
	return fmt.Errorf("no command %q", args[0])
}

// serve answers with the pod's name until it is told to be unready.
func serve() error {
	name, _ := os.Hostname()
	var unready atomic.Bool
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, name) })
	http.HandleFunc("/unready", func(http.ResponseWriter, *http.Request) { unready.Store(true) })
	http.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if unready.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	fmt.Println("serving as", name)
	return http.ListenAndServe(":8080", nil)
}

// webhook refuses whatever it is asked about.
func webhook(cert, key string) error {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, rest, _ := strings.Cut(string(body), `"uid":"`)
		uid, _, _ := strings.Cut(rest, `"`)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":false,"status":{"message":"refused by the probe"}}}`, uid)
	})
	return http.ListenAndServeTLS(":8443", cert, key, nil)
}

// get prints what an address answers, each answer once, over several requests
// on a connection each.
func get(url, times string) error {
	n, err := strconv.Atoi(times)
	if err != nil {
		return err
	}
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	seen := map[string]bool{}
	for range n {
		resp, err := client.Get(url)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if !seen[string(body)] {
			fmt.Print(string(body))
		}
		seen[string(body)] = true
	}
	return nil
}

// whoami asks the API server as any in-cluster client does: its Service's name,
// the mounted authority, the mounted token.
func whoami() error {
	const dir = "/var/run/secrets/kubernetes.io/serviceaccount/"
	ca, err := os.ReadFile(dir + "ca.crt")
	if err != nil {
		return err
	}
	token, err := os.ReadFile(dir + "token")
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	req, err := http.NewRequest(http.MethodPost, "https://kubernetes.default.svc/apis/authentication.k8s.io/v1/selfsubjectreviews",
		strings.NewReader(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+string(token))
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(os.Stdout, resp.Body)
	return err
}
