// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"testing"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
)

// withoutDruid counts how often it is asked for Etcds, which aren't served.
type withoutDruid struct {
	observetest.Objects

	asked int
}

func (w *withoutDruid) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, is := list.(*druidv1alpha1.EtcdList); is {
		w.asked++
		return &meta.NoKindMatchError{GroupKind: owner.EtcdKind.GroupKind()}
	}
	return w.Objects.List(ctx, list, opts...)
}

// TestOwnersWithoutDruid: who is known not to be served isn't asked for.
func TestOwnersWithoutDruid(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		absent func() bool
		asked  int
	}{
		{"unknown", nil, 3},
		{"known to be absent", func() bool { return true }, 0},
		{"known to be there", func() bool { return false }, 3},
	} {
		from := &withoutDruid{}
		r := &Reader{Reader: from, NoEtcds: row.absent}
		for range 3 {
			if _, err := r.Owners(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if from.asked != row.asked {
			t.Errorf("%s: asked for Etcds %d times, want %d", row.name, from.asked, row.asked)
		}
	}
}

// apiServer counts how often it is asked for one object.
type apiServer struct {
	observetest.Objects

	asked int
}

func (a *apiServer) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	a.asked++
	return a.Objects.Get(ctx, key, obj, opts...)
}

// TestOwnerIsMissing holds that an owner which isn't there is read from the API server once in a moment,
// whatever the cache has under its name, and that one which is created in that moment is found.
func TestOwnerIsMissing(t *testing.T) {
	t.Parallel()
	set := func(uid types.UID) *appsv1.StatefulSet {
		s := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: "main", UID: uid}}
		s.Spec.Template.Spec.Containers = []corev1.Container{{Name: "etcd", Command: []string{"etcd"}}}
		return s
	}
	ofEtcd := set("of-etcd")
	etcd := metav1.NewControllerRef(&metav1.ObjectMeta{Name: "main", UID: "etcd"}, druidv1alpha1.SchemeGroupVersion.WithKind("Etcd"))
	ofEtcd.OwnerReferences = []metav1.OwnerReference{*etcd}
	for name, row := range map[string]struct {
		cached, created *appsv1.StatefulSet
		uid             types.UID
	}{
		"gone":                     {nil, set("1"), "1"},
		"another one has its name": {set("2"), set("1"), "1"},
		"its Etcd is gone":         {ofEtcd, nil, "of-etcd"},
	} {
		now := testclock.NewFakePassiveClock(time.Unix(1_800_000_000, 0))
		api := &apiServer{}
		var cached observetest.Objects
		if row.cached != nil {
			cached = append(cached, row.cached)
		}
		r := &Reader{Reader: cached, Live: api, Missing: source.NewMissing(now)}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: "main-0", OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(set(row.uid), appsv1.SchemeGroupVersion.WithKind("StatefulSet")),
		}}}
		for range 3 {
			if _, found, err := r.OwnerOfPod(t.Context(), pod); found || err != nil {
				t.Errorf("%s: found %t, %v", name, found, err)
			}
		}
		if api.asked != 1 {
			t.Errorf("%s: asked %d times, want once", name, api.asked)
		}
		now.SetTime(now.Now().Add(2 * time.Second))
		if _, _, err := r.OwnerOfPod(t.Context(), pod); err != nil || api.asked != 2 {
			t.Errorf("%s, after a moment: asked %d times, want 2: %v", name, api.asked, err)
		}
		if row.created == nil {
			continue
		}
		r.Reader = observetest.Objects{row.created} // its informer has it
		if _, found, err := r.OwnerOfPod(t.Context(), pod); !found || err != nil {
			t.Errorf("%s: a StatefulSet of the cache isn't found: %v", name, err)
		}
		r.Reader, api.Objects = observetest.Objects{}, observetest.Objects{set("3")} // only the API server has it yet
		pod.OwnerReferences[0].UID = "3"
		if _, found, err := r.OwnerOfPod(t.Context(), pod); !found || err != nil {
			t.Errorf("%s: a StatefulSet that was created again isn't found: %v", name, err)
		}
	}
}
