// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
)

// counted counts the reads of ConfigMaps and Secrets.
type counted struct {
	observetest.Objects
	reads *int
}

func (c counted) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	*c.reads++
	return c.Objects.Get(ctx, key, obj, opts...)
}

// checkNoCandidate checks that no cluster is listed as what may run etcd.
func checkNoCandidate(t *testing.T, r *observe.Reader, clusters string) {
	t.Helper()
	candidates, err := resolve.Candidates(t.Context(), r)
	for _, c := range candidates {
		if strings.Contains(clusters, c.Name) {
			t.Errorf("%s is a cluster, and is listed as one that may run etcd", c)
		}
	}
	if err != nil || len(candidates) == 0 {
		t.Errorf("candidates: %v, %v", candidates, err)
	}
}

// TestScripts recognises StatefulSets by what their pods mount, and reads no more than it may.
func TestScripts(t *testing.T) {
	t.Parallel()
	set, config := observetest.MountingSet, func(name, script string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}, Data: map[string]string{"start.sh": script}}
	}
	objects := observetest.Objects{
		config("plain", "exec etcd"), config("adds", "etcdctl member add $HOSTNAME\nexec etcd"), config("app", "exec /app"),
		set("plain", "etcd:v3", "plain"), set("adds", "etcd:v3", "adds"), set("app", "etcd:v3", "app"), set("gone", "etcd:v3", "gone"), set("other", "nginx", "plain"),
	}
	names := func(r *observe.Reader) string {
		owners, err := r.Owners(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, o := range owners {
			if o.Mounted != "main" {
				t.Errorf("%s: container %q is shown by what is mounted, want main", o.Name, o.Mounted)
			}
			out = append(out, o.Name+" by "+string(o.Membership().Manager))
		}
		return strings.Join(out, ", ")
	}
	reads := 0
	from := counted{objects, &reads}
	if got := names(&observe.Reader{Reader: from}); got != "" || reads > 0 {
		t.Errorf("without the right to read: %q, %d reads", got, reads)
	}
	r := &observe.Reader{Reader: from, Scripts: podfiles.NewScripts()}
	const want = "plain by Unmanaged, adds by StartScript"
	for range 2 {
		if got := names(r); got != want || reads != 4 {
			t.Errorf("%q, %d reads; want %q and one read of each object", got, reads, want)
		}
	}
	checkNoCandidate(t, r, want)
	const most = 200 // of the objects that podfiles.Scripts reads
	var many observetest.Objects
	for i := range most + 50 {
		name := fmt.Sprint("m", i)
		many = append(many, set(name, "etcd:v3", name), config(name, "exec /app"))
	}
	reads = 0
	if got := names(&observe.Reader{Reader: counted{many, &reads}, Scripts: podfiles.NewScripts()}); got != "" || reads != most {
		t.Errorf("of many candidates: %q, %d reads, want %d", got, reads, most)
	}
}

// TestUnreadMembership holds that who changes members is unknown where a script can't be read, also of a
// declared cluster with no hint of etcd, and that the reason names what can't be read.
func TestUnreadMembership(t *testing.T) {
	t.Parallel()
	unhinted := observetest.MountingSet("unhinted", "db:1", "gone")
	unhinted.Annotations = map[string]string{v1alpha1.EtcdAnnotation: "main"}
	sources := observetest.MountingSet("sources", "etcd:v3", "gone")
	sources.Spec.Template.Spec.Containers[0].Command = []string{"sh", "-c", ". /scripts/start.sh; exec etcd"}
	r := &observe.Reader{Reader: observetest.Objects{unhinted, sources}, Scripts: podfiles.NewScripts()}
	owners, err := r.Owners(t.Context())
	if err != nil || len(owners) != 2 {
		t.Fatal(owners, err)
	}
	for _, o := range owners {
		m := o.Membership()
		if m.Manager != flavour.ByStartScript || m.RemovesMembers || !strings.Contains(m.ManagerName, "ConfigMap team/gone does not exist") || !strings.Contains(m.ScaleHow, "readable") {
			t.Errorf("%s: %+v", o, m)
		}
	}
}
