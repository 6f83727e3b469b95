// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// patchedSets applies merge patches to the StatefulSets of objects. The first patches fail by the
// errors, one each.
type patchedSets struct {
	observetest.Objects
	errors  []error
	patches int
}

func (p *patchedSets) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
	p.patches++
	if len(p.errors) > 0 {
		err := p.errors[0]
		p.errors = p.errors[1:]
		return err
	}
	body, err := patch.Data(obj)
	if err != nil {
		return err
	}
	for _, o := range p.Objects {
		sts, is := o.(*appsv1.StatefulSet)
		if !is || client.ObjectKeyFromObject(sts) != client.ObjectKeyFromObject(obj) {
			continue
		}
		before, err := json.Marshal(sts)
		if err != nil {
			return err
		}
		after, err := jsonpatch.MergePatch(before, body)
		if err != nil {
			return err
		}
		*sts = appsv1.StatefulSet{}
		return json.Unmarshal(after, sts)
	}
	return apierrors.NewNotFound(appsv1.Resource("statefulsets"), obj.GetName())
}

// TestUninstallReleases checks that the deletion of what the program needs releases rollouts before it
// takes effect, and that it passes in any case.
func TestUninstallReleases(t *testing.T) {
	t.Parallel()
	conflict := apierrors.NewConflict(appsv1.Resource("statefulsets"), "plain", errors.New("changed"))
	denied := apierrors.NewForbidden(appsv1.Resource("statefulsets"), "plain", errors.New("protected"))
	yes := true
	for _, row := range []struct {
		name             string
		change           func(*admissionv1.AdmissionRequest)
		objects          func(observetest.Objects)
		errors           []error
		released, writes bool
		outcome          Outcome
		warns            string
	}{
		{name: "the definition of policies", released: true, writes: true, outcome: Warned},
		{name: "the permissions", change: of("clusterroles", "etcd-webhook"), released: true, writes: true, outcome: Warned},
		{name: "their binding", change: of("clusterrolebindings", "etcd-webhook"), released: true, writes: true, outcome: Warned},
		{name: "another definition", change: of("customresourcedefinitions", "etcds.druid.gardener.cloud"), outcome: Ignored},
		{name: "another binding", change: of("clusterrolebindings", "cluster-admin"), outcome: Ignored},
		{name: "a dry run", change: func(r *admissionv1.AdmissionRequest) { r.DryRun = &yes }, outcome: Warned},
		{name: "written by another client", errors: []error{conflict, conflict}, released: true, writes: true, outcome: Warned},
		{name: "written all the time", errors: []error{conflict, conflict, conflict, conflict, conflict}, writes: true, outcome: FailedOpen, warns: "\n" + repair},
		{name: "denied", errors: []error{denied}, writes: true, outcome: FailedOpen, warns: "\n" + repair},
		{name: "a member is down", objects: unready, outcome: Warned, warns: "\n" + sweepHeld},
		{name: "a member is down, and the StatefulSet is scaled to 0", objects: func(o observetest.Objects) { unready(o); replicas(o, 0) }, released: true, writes: true, outcome: Warned},
		{name: "a member hangs, which the leader recorded on the budget", objects: func(o observetest.Objects) {
			weakProbes(o)
			recordedOnSet(o, "BackupFailing")
			recordedOnBudget(o, "MemberNotReady")
		}, outcome: Warned, warns: "recorded last that not all of its members are in order (MemberNotReady)"},
		{name: "a member hangs, which the leader recorded on the StatefulSet", objects: weakProbes, outcome: Warned, warns: "(RolloutUpdatedNotReady)"},
		{name: "the members are well again, and the budget waits for the settle time", objects: func(o observetest.Objects) {
			weakProbes(o)
			recordedOnBudget(o, "MemberNotReady", v1alpha1.BudgetLooserSinceAnnotation, "2026-11-20T09:59:30Z")
			recordedOnSet(o, "BackupFailing")
		}, released: true, writes: true, outcome: Warned},
		{name: "a member hung, and the probes ask etcd", objects: func(o observetest.Objects) { recordedOnBudget(o, "MemberNotReady") }, released: true, writes: true, outcome: Warned},
		{name: "a pod is missing", objects: func(o observetest.Objects) { replicas(o, 4) }, outcome: Warned, warns: "stays held: 3 of 4 members ready: 1 missing"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			objects, request := readRequest(t, "testdata/uninstall-held.request.yaml")
			if row.change != nil {
				row.change(request)
			}
			if row.objects != nil {
				row.objects(objects)
			}
			store := &patchedSets{Objects: objects, errors: row.errors}
			reader := readerOf(objects)
			h := &uninstallHandler{reader: reader, statefulSets: store, clock: reader.Leases.Clock}
			d := h.decide(t.Context(), admission.Request{AdmissionRequest: *request})
			if d.Outcome != row.outcome || !d.Outcome.passes() {
				t.Errorf("outcome %s (%s): %q", d.Outcome, d.Reason, d.Warnings)
			}
			if !strings.Contains(strings.Join(d.Warnings, "\n"), row.warns) {
				t.Errorf("%q is not in %q", row.warns, d.Warnings)
			}
			checkReleased(t, store, row.released, row.writes)
		})
	}
}

// TestUninstallWaitsForLeases: a replica that has just started has seen no lease renewed, so a member may have hung
// before. The deletion passes, and the rollout stays held.
func TestUninstallWaitsForLeases(t *testing.T) {
	t.Parallel()
	objects := readObjects(t, "../internal/observe/testdata/facts/druid-3.objects.yaml")
	for _, o := range objects {
		if sts, is := o.(*appsv1.StatefulSet); is {
			sts.Annotations = map[string]string{
				v1alpha1.RolloutValueAnnotation: "partition=3", v1alpha1.RolloutAuthorAnnotation: `{"type":"RollingUpdate"}`, v1alpha1.RolloutSinceAnnotation: "2026-11-20T09:50:00Z",
			}
		}
	}
	_, request := readRequest(t, "testdata/uninstall-held.request.yaml")
	now := testclock.NewFakePassiveClock(testNow)
	reader := &observe.Reader{Reader: objects, Leases: &leaseclock.Clock{Clock: now}}
	store := &patchedSets{Objects: objects}
	h := &uninstallHandler{reader: reader, statefulSets: store, clock: now}
	decide := func() string {
		return strings.Join(h.decide(t.Context(), admission.Request{AdmissionRequest: *request}).Warnings, "\n")
	}
	if got := decide(); store.patches > 0 || !strings.Contains(got, "not known yet whether its members still renew their leases") {
		t.Errorf("after %d writes: %s", store.patches, got)
	}
	now.SetTime(testNow.Add(10 * time.Second))
	for _, o := range objects {
		if lease, is := o.(*coordinationv1.Lease); is && lease.Spec.RenewTime != nil {
			lease.Spec.RenewTime.Time = lease.Spec.RenewTime.Add(10 * time.Second)
		}
	}
	if got := decide(); store.patches != 1 {
		t.Errorf("after %d writes, when the leases are renewed: %s", store.patches, got)
	}
}

// weakProbes gives the members, which have run for long, probes that don't ask etcd.
func weakProbes(objects observetest.Objects) {
	for _, o := range objects {
		if pod, is := o.(*corev1.Pod); is {
			pod.Spec.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}}
			since := metav1.NewTime(testNow.Add(-time.Hour))
			pod.Status.Conditions[0].LastTransitionTime = since
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: pod.Spec.Containers[0].Name, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
			}}
		}
	}
}

// recordedOnBudget records a reason on the budget, and further annotations.
func recordedOnBudget(objects observetest.Objects, reason string, more ...string) {
	for _, o := range objects {
		if budget, is := o.(*policyv1.PodDisruptionBudget); is {
			budget.Annotations[v1alpha1.BudgetReasonAnnotation] = reason
			for i := 0; i+1 < len(more); i += 2 {
				budget.Annotations[more[i]] = more[i+1]
			}
		}
	}
}

// recordedOnSet records a reason on the StatefulSet.
func recordedOnSet(objects observetest.Objects, reason string) {
	for _, o := range objects {
		if sts, is := o.(*appsv1.StatefulSet); is {
			sts.Annotations[v1alpha1.RolloutReasonAnnotation] = reason
		}
	}
}

// unready makes a pod unready.
func unready(objects observetest.Objects) {
	for _, o := range objects {
		if pod, is := o.(*corev1.Pod); is && pod.Name == "plain-1" {
			pod.Status.Conditions[0].Status = corev1.ConditionFalse
		}
	}
}

func replicas(objects observetest.Objects, n int32) {
	for _, o := range objects {
		if sts, is := o.(*appsv1.StatefulSet); is {
			sts.Spec.Replicas = &n
		}
	}
}

// TestReleaseOrder: the clusters of other namespaces don't wait for those of one with many, and those that
// run are before those that are scaled to 0.
func TestReleaseOrder(t *testing.T) {
	t.Parallel()
	var sets []appsv1.StatefulSet
	for _, at := range []string{"a/zero", "a/1", "a/2", "a/3", "b/1", "b/2", "c/free", "d/1"} {
		var sts appsv1.StatefulSet
		sts.Namespace, sts.Name, _ = strings.Cut(at, "/")
		if sts.Name == "zero" {
			sts.Spec.Replicas = new(int32)
		}
		if sts.Name != "free" {
			sts.Annotations = map[string]string{v1alpha1.RolloutValueAnnotation: "partition=1"}
		}
		sets = append(sets, sts)
	}
	var order []string
	for _, sts := range heldInOrder(sets) {
		order = append(order, sts.Namespace+"/"+sts.Name)
	}
	if got := strings.Join(order, " "); got != "a/1 b/1 d/1 a/2 b/2 a/3 a/zero" {
		t.Errorf("got %s", got)
	}
}

// TestManyReleases: many StatefulSets don't displace the commands that repair what stays.
func TestManyReleases(t *testing.T) {
	t.Parallel()
	var r releases
	for range 300 {
		r.failed = append(r.failed, "the rollout of StatefulSet a/b stays held: the time is over")
	}
	r.unwell = []string{"the rollout of StatefulSet c/d stays held"}
	d := r.decision(nil)
	if len(d.Warnings) != 4+mostReleases+1 || d.Warnings[1] != repair || d.Warnings[3] != sweepHeld {
		t.Errorf("got %d: %q", len(d.Warnings), d.Warnings)
	}
	if last := d.Warnings[len(d.Warnings)-1]; last != "291 more rollouts were held; 301 of all stay held" {
		t.Errorf("got %s", last)
	}
}

func of(resource, name string) func(*admissionv1.AdmissionRequest) {
	return func(r *admissionv1.AdmissionRequest) { r.Resource.Resource, r.Name = resource, name }
}

func checkReleased(t *testing.T, store *patchedSets, released, writes bool) {
	t.Helper()
	var sts appsv1.StatefulSet
	if err := store.Get(t.Context(), client.ObjectKey{Namespace: "db", Name: "plain"}, &sts); err != nil {
		t.Fatal(err)
	}
	partition := *sts.Spec.UpdateStrategy.RollingUpdate.Partition
	if got := len(sts.Annotations) == 0 && partition == 0; got != released || store.patches > 0 != writes {
		t.Errorf("partition %d, annotations %v after %d writes", partition, sts.Annotations, store.patches)
	}
}
