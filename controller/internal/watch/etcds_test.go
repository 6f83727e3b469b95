// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"context"
	"errors"
	"testing"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// mappings is a RESTMapper that answers each request with the next error, and then serves
// every kind.
type mappings struct {
	meta.RESTMapper

	errs     []error
	requests []string
}

func (m *mappings) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.requests = append(m.requests, kind.WithVersion(versions[0]).String())
	if len(m.requests) <= len(m.errs) {
		return nil, m.errs[len(m.requests)-1]
	}
	return &meta.RESTMapping{}, nil
}

// TestEtcds checks that the watch is started once, as soon as the API server serves
// Etcds, whatever it answers before.
func TestEtcds(t *testing.T) {
	t.Parallel()
	absent := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: druidv1alpha1.SchemeGroupVersion.Group, Kind: "Etcd"}}
	failed := errors.New("the watch can't be started")
	for _, row := range []struct {
		name  string
		errs  []error
		start error
	}{
		{name: "served from the start"},
		{name: "installed later", errs: []error{absent, absent}},
		{name: "the API server is unavailable for a while", errs: []error{errors.New("connection refused"), absent}},
		{name: "the watch fails", start: failed},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m, started := &mappings{errs: row.errs}, 0
			w := &Etcds{Mapper: m, poll: time.Millisecond, Begin: func() error {
				started++
				if len(m.requests) <= len(row.errs) {
					t.Errorf("started after %d requests, before Etcds are served", len(m.requests))
				}
				return row.start
			}}
			if err := w.Start(t.Context()); !errors.Is(err, row.start) {
				t.Errorf("returned %v, want %v", err, row.start)
			}
			if started != 1 || len(m.requests) != len(row.errs)+1 {
				t.Errorf("started %d times after %d requests", started, len(m.requests))
			}
			if want := "druid.gardener.cloud/v1alpha1, Kind=Etcd"; m.requests[0] != want {
				t.Errorf("asked for %q, want %q", m.requests[0], want)
			}
		})
	}
}

// TestEtcdsStops checks that a manager that stops before etcd-druid is installed doesn't
// fail.
func TestEtcdsStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := &Etcds{Mapper: meta.NewDefaultRESTMapper(nil), poll: time.Millisecond, Begin: func() error {
		t.Error("started a watch of a kind that isn't served")
		return nil
	}}
	time.AfterFunc(20*time.Millisecond, cancel)
	if err := w.Start(ctx); err != nil {
		t.Errorf("returned %v", err)
	}
}
