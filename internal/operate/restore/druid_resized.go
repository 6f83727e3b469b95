// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// FollowReplicas compares the replicas of an Etcd with those that it had when an unfinished restore began. Another client
// may have changed them, and etcd-druid makes as many members when it goes on. The plan has all of these members, or the
// error is what to do. An undoing needs neither: it starts the members that there were, and etcd-druid goes on from them.
func (r *Plan) FollowReplicas(ctx context.Context, rec *progress.Record, kube client.Reader) error {
	if r.Druid == nil {
		return nil
	}
	e, err := operate.ReadEtcd(ctx, kube, r.Owner)
	if err != nil {
		return err
	}
	_, suspended := e.Annotations[traffic.SuspendAnnotation]
	if err := r.resized(rec, e.Spec.Replicas, suspended); err != nil {
		return err
	}
	for ordinal := len(r.Members); ordinal < int(e.Spec.Replicas); ordinal++ {
		r.Members = append(r.Members, Member{Pod: r.Owner.PodName(ordinal)})
	}
	return nil
}

// resized returns why a restore can't go on with the replicas that an Etcd has now. More are no obstacle when the first
// member runs on the restored data: then etcd-druid adds all others. An Etcd can get more replicas or 0, and never fewer.
func (r Plan) resized(rec *progress.Record, has int32, suspended bool) error {
	steps := r.steps()
	first := slices.IndexFunc(steps, func(s step.Step) bool { return s.ID == started })
	changed := fmt.Sprintf("its spec.replicas was %d when the restore began, and is %d now", rec.Size, has)
	switch {
	case has == rec.Size, has > rec.Size && rec.Done > first:
		return nil
	case r.Unstopped:
		return r.MustEnd(changed)
	}
	var back []string
	if has > rec.Size {
		if !suspended {
			back = append(back, r.annotate(true, step.Annotation{Key: traffic.SuspendAnnotation}).Command(r.Flags))
		}
		back = append(back, r.setReplicas(0))
	}
	back = append(back, r.setReplicas(rec.Size))
	return &operate.RefusedError{What: "continue the restore into " + r.Owner.String(), Why: []string{fmt.Sprintf(
		"%s. Its members are stopped, and the restore starts as many as there were. Set it back: %s. Then run the same command again, and scale when the restore has ended",
		changed, strings.Join(back, "; "))}}
}

func (r Plan) setReplicas(n int32) string {
	return step.Patch{Kind: step.Etcd, Name: r.Owner.Name, Body: map[string]any{"spec": map[string]any{"replicas": n}}}.Command(r.Flags)
}
