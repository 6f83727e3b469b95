// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package controllertest has what the tests of several reconcilers need: objects of clusters, an
// API server in memory, and the Events that were recorded.
package controllertest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// Store is an API server in memory for the three verbs that the budget controller
// uses, with preconditions. Whether a real API server accepts the writes is tested on the
// testbed.
type Store struct {
	observetest.Objects
	// Writes counts what was written.
	Writes  int
	version int
	// Refuse is the error of every write; nil accepts writes.
	Refuse error
	// DenyPatches refuses patches as admission does, and accepts other writes.
	DenyPatches bool
	// DenyPatchesOf refuses the patches of one object, and DenyDeletionOf its deletion.
	DenyPatchesOf, DenyDeletionOf string
}

// Create creates a budget, if there is none of its name.
func (s *Store) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	if s.Refuse != nil {
		return s.Refuse
	}
	if slices.ContainsFunc(s.Objects, func(o client.Object) bool {
		_, is := o.(*policyv1.PodDisruptionBudget)
		return is && o.GetName() == obj.GetName()
	}) {
		return apierrors.NewAlreadyExists(policyv1.Resource("poddisruptionbudgets"), obj.GetName())
	}
	obj.SetUID(types.UID("created " + obj.GetName()))
	s.Put(obj)
	return nil
}

// Delete deletes an object.
func (s *Store) Delete(_ context.Context, obj client.Object, _ ...client.DeleteOption) error {
	if s.Refuse != nil {
		return s.Refuse
	}
	if s.DenyDeletionOf == obj.GetName() {
		return apierrors.NewForbidden(resourceOf(obj), obj.GetName(), errors.New("denied"))
	}
	s.Writes++
	s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool { return o.GetUID() == obj.GetUID() })
	return nil
}

// Patch patches a budget or a StatefulSet, with its preconditions. obj becomes the version that it wrote. A dry run
// writes nothing.
func (s *Store) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if s.Refuse != nil {
		return s.Refuse
	}
	if s.DenyPatches || s.DenyPatchesOf == obj.GetName() {
		return apierrors.NewForbidden(resourceOf(obj), obj.GetName(), errors.New("denied"))
	}
	body, err := patch.Data(obj)
	if err != nil {
		return err
	}
	old, asked := emptyOf(obj), emptyOf(obj)
	if err := s.Get(ctx, client.ObjectKeyFromObject(obj), old); err != nil {
		return err
	}
	if err := json.Unmarshal(body, asked); err != nil {
		return err
	}
	if asked.GetUID() != old.GetUID() || asked.GetResourceVersion() != "" && asked.GetResourceVersion() != old.GetResourceVersion() {
		return apierrors.NewConflict(resourceOf(obj), obj.GetName(), errors.New("changed"))
	}
	text, err := json.Marshal(old)
	if err != nil {
		return err
	}
	if text, err = jsonpatch.MergePatch(text, body); err != nil {
		return err
	}
	out := emptyOf(obj)
	if err := json.Unmarshal(text, out); err != nil {
		return err
	}
	var options client.PatchOptions
	if options.ApplyOptions(opts); len(options.DryRun) == 0 {
		s.Put(out)
	}
	written, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return json.Unmarshal(written, obj)
}

// emptyOf returns an empty object of the kind of another one.
func emptyOf(obj client.Object) client.Object {
	if _, is := obj.(*appsv1.StatefulSet); is {
		return &appsv1.StatefulSet{}
	}
	return &policyv1.PodDisruptionBudget{}
}

func resourceOf(obj client.Object) schema.GroupResource {
	if _, is := obj.(*appsv1.StatefulSet); is {
		return appsv1.Resource("statefulsets")
	}
	return policyv1.Resource("poddisruptionbudgets")
}

// Put stores an object as a new version.
func (s *Store) Put(obj client.Object) {
	s.version++
	s.Writes++
	obj.SetResourceVersion("v" + strconv.Itoa(s.version))
	s.Objects = append(slices.DeleteFunc(s.Objects, func(o client.Object) bool { return o.GetUID() == obj.GetUID() }), obj)
}

// Budgets returns the budgets, each as "name field=number reason".
func (s *Store) Budgets(now time.Time) []string {
	var out []string
	for _, o := range s.Objects {
		pdb, ok := o.(*policyv1.PodDisruptionBudget)
		if !ok {
			continue
		}
		value := "?"
		if v, problem := annotation.ValueOf(pdb.Name, &pdb.Spec); problem == nil {
			value = v.String()
		}
		reason := annotation.DecodeBudgetRecord(pdb.Annotations, now).Reason
		if reason == "" {
			reason = "-"
		}
		out = append(out, pdb.Name+" "+value+" "+reason)
	}
	slices.Sort(out)
	return out
}
