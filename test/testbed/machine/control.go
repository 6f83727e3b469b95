// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/sys/unix"
)

// Status is what became of a Process.
type Status struct {
	Name     string `json:"name"`
	Wanted   bool   `json:"wanted"`
	Running  bool   `json:"running"`
	Restarts int    `json:"restarts"`
	LastExit string `json:"lastExit,omitempty"`
}

// listen serves orders on a socket in the run directory, which works whatever
// network namespace the caller is in.
func (v *supervisor) listen(ctx context.Context, shutdown func()) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /processes", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(v.statuses())
	})
	mux.HandleFunc("POST /shutdown", func(http.ResponseWriter, *http.Request) { shutdown() })
	mux.HandleFunc("POST /processes/{name}/{order}", func(w http.ResponseWriter, r *http.Request) {
		if err := v.obey(r.PathValue("name"), r.PathValue("order")); err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
		}
	})
	socket, err := net.Listen("unix", v.spec.socket())
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() {
		<-ctx.Done()
		_ = server.Shutdown(context.WithoutCancel(ctx))
	}()
	if err := server.Serve(socket); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (v *supervisor) obey(name, order string) error {
	for _, p := range v.programs {
		if p.Name != name {
			continue
		}
		switch order {
		case "start":
			v.want(p)
		case "stop":
			v.stop(p, unix.SIGTERM)
		case "kill":
			v.stop(p, unix.SIGKILL)
		default:
			return fmt.Errorf("no order %q: start, stop or kill", order)
		}
		return nil
	}
	return fmt.Errorf("machine %s has no process %q", v.spec.Name, name)
}

func (v *supervisor) statuses() []Status {
	v.mu.Lock()
	defer v.mu.Unlock()
	var all []Status
	for _, p := range v.programs {
		all = append(all, Status{p.Name, p.wanted, p.pid != 0, max(0, p.starts-1), p.lastExit})
	}
	return all
}

// order sends the running machine a request.
func (s *Spec) order(ctx context.Context, method, path string) ([]byte, error) {
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", s.socket())
		},
	}}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+s.Name+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		err = errors.New(string(bytes.TrimSpace(body)))
	}
	return body, err
}

// Status returns the state of the machine's programs. The machine must be on,
// and not paused: then nothing answers.
func (s *Spec) Status(ctx context.Context) ([]Status, error) {
	body, err := s.order(ctx, http.MethodGet, "/processes")
	if err != nil {
		return nil, err
	}
	var all []Status
	return all, json.Unmarshal(body, &all)
}

// Start starts one of the machine's programs, if it is down.
func (s *Spec) Start(ctx context.Context, process string) error {
	return s.send(ctx, process, "start")
}

// Stop ends one of the machine's programs and keeps it down.
func (s *Spec) Stop(ctx context.Context, process string) error { return s.send(ctx, process, "stop") }

// Kill is Stop without a chance to clean up.
func (s *Spec) Kill(ctx context.Context, process string) error { return s.send(ctx, process, "kill") }

func (s *Spec) send(ctx context.Context, process, order string) error {
	_, err := s.order(ctx, http.MethodPost, "/processes/"+process+"/"+order)
	if err != nil {
		return fmt.Errorf("%s %s on %s: %w", order, process, s.Name, err)
	}
	return nil
}
