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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

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
		errors           []error
		released, writes bool
		outcome          Outcome
	}{
		{name: "the definition of policies", released: true, writes: true, outcome: Warned},
		{name: "the permissions", change: of("clusterroles", "etcd-webhook"), released: true, writes: true, outcome: Warned},
		{name: "their binding", change: of("clusterrolebindings", "etcd-webhook"), released: true, writes: true, outcome: Warned},
		{name: "another definition", change: of("customresourcedefinitions", "etcds.druid.gardener.cloud"), outcome: Ignored},
		{name: "another binding", change: of("clusterrolebindings", "cluster-admin"), outcome: Ignored},
		{name: "a dry run", change: func(r *admissionv1.AdmissionRequest) { r.DryRun = &yes }, outcome: Warned},
		{name: "written by another client", errors: []error{conflict, conflict}, released: true, writes: true, outcome: Warned},
		{name: "written all the time", errors: []error{conflict, conflict, conflict, conflict, conflict}, writes: true, outcome: FailedOpen},
		{name: "denied", errors: []error{denied}, writes: true, outcome: FailedOpen},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			objects, request := readRequest(t, "testdata/uninstall-held.request.yaml")
			if row.change != nil {
				row.change(request)
			}
			store := &patchedSets{Objects: objects, errors: row.errors}
			reader := readerOf(objects)
			h := &uninstallHandler{reader: reader, statefulSets: store, clock: reader.Leases.Clock}
			d := h.decide(t.Context(), admission.Request{AdmissionRequest: *request})
			if d.Outcome != row.outcome || !d.Outcome.passes() {
				t.Errorf("outcome %s (%s): %q", d.Outcome, d.Reason, d.Warnings)
			}
			if d.Outcome == FailedOpen && !strings.Contains(strings.Join(d.Warnings, "\n"), "\n"+repair) {
				t.Errorf("no way forward in %q", d.Warnings)
			}
			checkReleased(t, store, row.released, row.writes)
		})
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
