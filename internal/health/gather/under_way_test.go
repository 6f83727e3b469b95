// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
)

// TestReplacedAfterSetAside: the journal of a restore that may have set data aside has its name, so no command removes
// it.
func TestReplacedAfterSetAside(t *testing.T) {
	t.Parallel()
	for payload, aside := range map[string]bool{`{"done":0}`: false, `{"done":1}`: true, `"unreadable"`: true} {
		set := observetest.EtcdSet("main/3")
		set.UID = "now"
		text := fmt.Sprintf(`{"kind":"snapshot restore","began":"2026-01-01T00:00:00Z","object":"before","payload":%s}`, payload)
		kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "kubectl-etcd-main"}, Data: map[string]string{"journal.json": text}}
		g := gatherer{
			Source: Source{Reader: &observe.Reader{Reader: observetest.Objects{set, kept}}},
			Facts:  &health.Facts{Owner: owner.OfStatefulSet(set)},
		}
		g.operations(t.Context())
		want := "kubectl etcd sweep --remove -n team"
		if aside {
			want = "kubectl etcd sweep -n team"
		}
		if u := g.UnderWay.Value; !g.Replaced || g.SetsAside != aside || u == nil || !slices.Equal(u.Commands, []string{want}) {
			t.Errorf("%s: %t, %t, %+v, want %q", payload, g.Replaced, g.SetsAside, g.UnderWay, want)
		}
	}
}

// TestReplaced: an operation on a StatefulSet that was created again since can be neither continued nor undone, so the
// command is another one.
func TestReplaced(t *testing.T) {
	t.Parallel()
	const swept = "kubectl etcd sweep --remove -n team --context dev"
	for _, kind := range []string{"restart", "snapshot restore", "scale"} {
		for uid, replaced := range map[types.UID]bool{"before": false, "now": true} {
			set := observetest.EtcdSet("main/3")
			set.UID = uid
			text := fmt.Sprintf(`{"kind":%q,"began":"2026-01-01T00:00:00Z","object":"before","payload":{"operation":"ScaleOut","target":5,"replicas":3}}`, kind)
			kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "kubectl-etcd-main"}, Data: map[string]string{"journal.json": text}}
			g := gatherer{
				Source: Source{Reader: &observe.Reader{Reader: observetest.Objects{set, kept}}},
				Facts:  &health.Facts{Owner: owner.OfStatefulSet(set), Flags: " --context dev"},
			}
			g.operations(t.Context())
			u := g.UnderWay.Value
			if u == nil || g.UnderWay.Err != nil {
				t.Fatalf("%s: %+v", kind, g.UnderWay)
			}
			if g.Unrecorded || len(g.Continuing) > 0 {
				t.Errorf("%s: it has a journal, and is interrupted: %+v", kind, g.Continuing)
			}
			if g.Replaced != replaced || slices.Contains(u.Commands, swept) != replaced || len(u.Commands) == 0 || replaced && len(u.Commands) != 1 {
				t.Errorf("%s, created again %t: %t, %q", kind, replaced, g.Replaced, u.Commands)
			}
		}
	}
	// A StatefulSet that can't be read may be the same one.
	g := gatherer{Source: Source{Reader: &observe.Reader{Reader: observetest.Objects{}}}, Facts: &health.Facts{Owner: owner.OfStatefulSet(&appsv1.StatefulSet{})}}
	if g.operations(t.Context()); g.Replaced {
		t.Error("created again, though it is not known")
	}
}

// TestUnstopped: a restore that has stopped no member is known to be one, beside the StatefulSet that it began on, and so is
// one whose members another client has started before it changed data.
func TestUnstopped(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]bool{`{"done":3,"firstStop":5}`: true, `{"done":6,"firstStop":5}`: false, `{"done":3,"firstStop":5,"undo":true}`: false, `"unreadable"`: false,
		`{"done":6,"firstStop":5,"firstTouch":7,"again":true}`: true, `{"done":7,"firstStop":5,"firstTouch":7,"again":true}`: false, `{"done":6,"firstStop":5,"firstTouch":7}`: false} {
		set := observetest.EtcdSet("main/3")
		if strings.Contains(payload, "again") {
			set.Annotations = map[string]string{v1alpha1.RestoreAnnotation: "2026-01-01T00:00:00Z 3"}
		}
		text := fmt.Sprintf(`{"kind":"snapshot restore","began":"2026-01-01T00:00:00Z","object":%q,"payload":%s}`, set.UID, payload)
		kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "kubectl-etcd-main"}, Data: map[string]string{"journal.json": text}}
		g := gatherer{Source: Source{Reader: &observe.Reader{Reader: observetest.Objects{set, kept}}}, Facts: &health.Facts{Owner: owner.OfStatefulSet(set)}}
		if g.operations(t.Context()); g.Unstopped != want {
			t.Errorf("%s: %t", payload, g.Unstopped)
		}
	}
}

// TestContinuing: an operation that seems to be alive is shown with the commands that continue and undo it if it is not.
func TestContinuing(t *testing.T) {
	t.Parallel()
	set := observetest.EtcdSet("main/3")
	text := `{"kind":"scale","began":"2026-01-01T00:00:00Z","payload":{"operation":"ScaleOut","target":5,"replicas":3}}`
	journal := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "kubectl-etcd-main"}, Data: map[string]string{"journal.json": text}}
	now := metav1.NewMicroTime(time.Now())
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: lock.Name(owner.OfStatefulSet(set))},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("ann@laptop"), RenewTime: &now, AcquireTime: &now, LeaseDurationSeconds: new(int32(30))},
	}
	g := gatherer{
		Source: Source{Reader: &observe.Reader{Reader: observetest.Objects{set, journal, lease}}},
		Facts:  &health.Facts{At: time.Now(), Owner: owner.OfStatefulSet(set), Flags: " --context dev"},
	}
	g.operations(t.Context())
	want := []string{"kubectl etcd scale statefulset/main --replicas 5 -n team --context dev", "kubectl etcd scale statefulset/main --abort -n team --context dev"}
	if u := g.UnderWay.Value; u == nil || u.Interrupted || len(u.Commands) > 0 || !slices.Equal(g.Continuing, want) {
		t.Errorf("%+v: %q, want %q", u, g.Continuing, want)
	}
	journal.Data["journal.json"] = strings.Replace(text, `"began"`, `"object":"before","began"`, 1)
	if g.operations(t.Context()); len(g.Continuing) > 0 || !g.Replaced || g.UnderWay.Value == nil || len(g.UnderWay.Value.Commands) > 0 {
		t.Errorf("the StatefulSet was created again: %q, %+v", g.Continuing, g.UnderWay.Value)
	}
}
