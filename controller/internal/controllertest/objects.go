// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controllertest

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// Now is the time at which the objects of internal/observe's tests were read.
var Now = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

//go:embed testdata/policies.facts.yaml
var policies string

// Policies returns several clusters that stand well and badly, with their policies and nodes.
func Policies(t *testing.T) observetest.Objects {
	t.Helper()
	return Parse(t, policies)
}

// Cluster returns the objects of a file of internal/observe's tests, their namespace, and a policy with a
// spec, "" for none. The test is in a folder of a reconciler.
func Cluster(t *testing.T, file, namespace, spec string) observetest.Objects {
	t.Helper()
	text, err := os.ReadFile("../../internal/observe/testdata/facts/" + file + ".objects.yaml") //nolint:gosec // a test names the file
	if err != nil {
		t.Fatal(err)
	}
	all := Parse(t, string(text))
	all = append(all, Parse(t, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", namespace))...)
	if spec != "" {
		all = append(all, Parse(t, "{apiVersion: policy.kubectl-etcd.dev/v1alpha1, kind: EtcdTopologyPolicy, metadata: {name: default, uid: policy}, spec: "+spec+"}")...)
	}
	for _, o := range all {
		// The API server sets the default.
		if p, ok := o.(*v1alpha1.EtcdTopologyPolicy); ok && p.Spec.Mode == "" {
			p.Spec.Mode = v1alpha1.ModeEnforce
		}
	}
	return all
}

// Parse returns objects that are written as YAML.
func Parse(t *testing.T, text string) observetest.Objects {
	t.Helper()
	s := runtime.NewScheme()
	if err := observe.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	objects, err := observetest.Parse(s, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// Find returns the object of a kind and name, which may be edited.
func Find[T client.Object](t *testing.T, all observetest.Objects, name string) T {
	t.Helper()
	for _, o := range all {
		if found, ok := o.(T); ok && o.GetName() == name {
			return found
		}
	}
	t.Fatalf("there is no %s", name)
	panic("unreachable")
}

// Recorded returns the Events of a recorder and empties it.
func Recorded(t *testing.T, r *events.FakeRecorder) []string {
	t.Helper()
	var out []string
	for {
		select {
		case e := <-r.Events:
			if _, declared := reasons.Find(strings.Fields(e)[1]); !declared {
				t.Errorf("the reason of this Event is not declared: %s", e)
			}
			out = append(out, e)
		default:
			slices.Sort(out)
			return out
		}
	}
}
