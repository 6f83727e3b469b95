// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"time"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// rolloutWrite is a client's write of a StatefulSet.
type rolloutWrite struct {
	// creates is true if there is no StatefulSet before the write. before is then as after, and the
	// write counts as one of the template: pods that run already may have another one.
	creates       bool
	before, after *appsv1.StatefulSet
	// manager is the name that the client gives its fields.
	manager string
	// record is the previous record, nil for none. written is the one in the object as written, if
	// its strategy is the one that is recorded. Of it only the author's strategy counts, which is the
	// client's to choose.
	record, written *annotation.RolloutRecord
	admission       rollout.Admission
	now             time.Time
}

func readRolloutWrite(req admission.Request, now time.Time) (rolloutWrite, error) {
	w := rolloutWrite{creates: req.Operation == admissionv1.Create, now: now}
	if w.creates {
		req.OldObject = req.Object
	}
	before, after, err := readUpdate[appsv1.StatefulSet](req)
	if err != nil {
		return w, err
	}
	before.Namespace, after.Namespace = req.Namespace, req.Namespace
	w.before, w.after = &before, &after
	if w.creates {
		// A copy of another object's record. What its author declares counts.
		for _, key := range annotation.RolloutAnnotations() {
			delete(before.Annotations, key)
		}
	}
	var options metav1.PatchOptions // the field is the same in those of an update
	if len(req.Options.Raw) > 0 {
		if err := json.Unmarshal(req.Options.Raw, &options); err != nil {
			return w, err
		}
	}
	w.manager = options.FieldManager
	write := rollout.Write{
		Now: int(ptr.Deref(before.Spec.Replicas, 1)), Asked: w.asked(),
		Template: w.creates || !equality.Semantic.DeepEqual(before.Spec.Template, after.Spec.Template),
		Outdated: rollouts.Outdated(&before),
		Before:   annotation.RolloutValueOf(&before.Spec.UpdateStrategy), After: annotation.RolloutValueOf(&after.Spec.UpdateStrategy),
	}
	if record, ok := annotation.DecodeRolloutRecord(before.Annotations, now); ok && record.Value == write.Before {
		w.record = &record
		write.Held, write.Author = true, annotation.RolloutValueOf(&record.Author).Partition
	}
	if written, ok := annotation.DecodeRolloutRecord(after.Annotations, now); ok && written.Value == write.After {
		w.written, write.After = &written, annotation.RolloutValueOf(&written.Author)
	}
	w.admission = rollout.Admit(write)
	return w, nil
}

// author returns the strategy that the author of the StatefulSet asks for. A write that leaves ours as
// it was asks for nothing new, and so does the object when the API server calls again after another
// webhook changed it.
func (w *rolloutWrite) author() appsv1.StatefulSetUpdateStrategy {
	switch {
	case w.written != nil:
		return w.written.Author
	case w.record != nil && w.unchanged():
		return w.withMaxUnavailable(w.record.Author)
	}
	author := w.after.Spec.UpdateStrategy
	author.Type = appsv1.RollingUpdateStatefulSetStrategyType
	return w.withMaxUnavailable(author)
}

func (w *rolloutWrite) asked() int { return int(ptr.Deref(w.after.Spec.Replicas, 1)) }

// concernsRollouts reports whether the write changes how or what a rollout restarts.
func (w *rolloutWrite) concernsRollouts() bool {
	a, b := &w.before.Spec, &w.after.Spec
	return w.creates || !equality.Semantic.DeepEqual(a.UpdateStrategy, b.UpdateStrategy) || !equality.Semantic.DeepEqual(a.Template, b.Template) || !equality.Semantic.DeepEqual(a.Replicas, b.Replicas)
}

// withMaxUnavailable returns the author's strategy with the maxUnavailable that the client wrote, or with the one
// that is recorded if the client left ours.
func (w *rolloutWrite) withMaxUnavailable(author appsv1.StatefulSetUpdateStrategy) appsv1.StatefulSetUpdateStrategy {
	if w.record == nil {
		return author
	}
	from := &w.after.Spec.UpdateStrategy
	if equality.Semantic.DeepEqual(rollouts.MaxUnavailable(from), rollouts.MaxUnavailable(&w.before.Spec.UpdateStrategy)) {
		from = &w.record.Author
	}
	number := rollouts.MaxUnavailable(from)
	if number == nil && author.RollingUpdate == nil {
		return author
	}
	author = *author.DeepCopy()
	if author.RollingUpdate == nil {
		author.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{}
	}
	author.RollingUpdate.MaxUnavailable = number
	return author
}

// movesPeers reports whether the write has the members listen for peers on another scheme or port.
func (w *rolloutWrite) movesPeers(o owner.Owner) bool {
	return rollouts.PeersMove(o, etcdconf.PodOfTemplate(w.before), etcdconf.PodOfTemplate(w.after))
}

func (w *rolloutWrite) unchanged() bool {
	return annotation.RolloutValueOf(&w.before.Spec.UpdateStrategy) == annotation.RolloutValueOf(&w.after.Spec.UpdateStrategy)
}

// reviewWindow is longer than a request may take.
const reviewWindow = time.Minute

// recorded returns the record that the StatefulSet gets, nil for none.
func (w *rolloutWrite) recorded(reason policy.Reason) *annotation.RolloutRecord {
	if !w.admission.Held {
		return nil
	}
	record := annotation.RolloutRecord{Author: w.author(), Value: w.admission.Value, Since: w.now, Reason: reason.Name()}
	switch {
	case !w.admission.Begins:
		record.Since, record.Reason = w.record.Since, w.record.Reason
	case w.written != nil && w.now.Sub(w.written.Since) < reviewWindow:
		record.Since = w.written.Since // the API server calls again
	}
	if w.record != nil {
		record.ReleaseSince = w.record.ReleaseSince // the controller's to change
	}
	return &record
}

// patch sets the strategy and the annotations of a record, or removes the annotations, and changes
// nothing else. It is empty if the StatefulSet has all of them.
func (w *rolloutWrite) patch(record *annotation.RolloutRecord) ([]jsonpatch.Operation, error) {
	want := map[string]string{}
	var ops []jsonpatch.Operation
	if record != nil {
		var err error
		if want, err = record.Encode(); err != nil {
			return nil, err
		}
		ops = w.strategyPatch(record)
	}
	return append(ops, annotationPatch(w.after.Annotations, want, annotation.RolloutAnnotations())...), nil
}

func (w *rolloutWrite) strategyPatch(record *annotation.RolloutRecord) []jsonpatch.Operation {
	have := &w.after.Spec.UpdateStrategy
	due := annotation.WithRolloutValue(record.Author, record.Value)
	set := annotation.RolloutValueOf(have) == record.Value
	switch {
	case !set && (record.Value.OnDelete || have.RollingUpdate == nil || have.Type != due.Type):
		return []jsonpatch.Operation{jsonpatch.NewOperation("add", "/spec/updateStrategy", due)}
	case record.Value.OnDelete:
		return nil
	}
	var ops []jsonpatch.Operation
	if !set {
		ops = append(ops, jsonpatch.NewOperation("add", "/spec/updateStrategy/rollingUpdate/partition", record.Value.Partition))
	}
	if wrote, one := rollouts.MaxUnavailable(have), annotation.OneAtOnce(*have); !equality.Semantic.DeepEqual(rollouts.MaxUnavailable(&one), wrote) {
		ops = append(ops, jsonpatch.NewOperation("add", "/spec/updateStrategy/rollingUpdate/maxUnavailable", 1))
	}
	return ops
}
