// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
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
		{name: "a pod is missing", objects: func(o observetest.Objects) { replicas(o, 4) }, outcome: Warned, warns: "stays held: 3 of 4 members ready: 1 missing"},
		{name: "a member hung, which its probe does not show", objects: func(o observetest.Objects) { unprobed(o) }, outcome: Warned, warns: "does not ask etcd"},
		{name: "none hung, and the probe would not show it", objects: func(o observetest.Objects) {
			unprobed(o).Annotations[v1alpha1.RolloutReasonAnnotation] = "AllReady"
		}, released: true, writes: true, outcome: Warned},
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

// unready makes a pod unready.
func unready(objects observetest.Objects) {
	for _, o := range objects {
		if pod, is := o.(*corev1.Pod); is && pod.Name == "plain-1" {
			pod.Status.Conditions[0].Status = corev1.ConditionFalse
		}
	}
}

// unprobed removes the readiness probes of pods that have been Ready for long. It returns their StatefulSet.
func unprobed(objects observetest.Objects) (set *appsv1.StatefulSet) {
	for _, o := range objects {
		switch o := o.(type) {
		case *corev1.Pod:
			o.Spec.Containers[0].ReadinessProbe = nil
			o.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: o.Spec.Containers[0].Name, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
			for i := range o.Status.Conditions {
				o.Status.Conditions[i].LastTransitionTime = metav1.Time{}
			}
		case *appsv1.StatefulSet:
			set = o
		}
	}
	return set
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
