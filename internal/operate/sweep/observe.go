// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// Observe searches a scope. It returns an error if the API server does not answer. What the user may
// not read is in the result.
func (s *Sweeper) Observe(ctx context.Context, scope Scope) (*State, error) {
	v := s.newView(scope.Namespace)
	out := &State{}
	for _, kind := range rules.Kinds() {
		items, err := v.find(ctx, kind)
		if err != nil {
			return nil, err
		}
		for i := range items {
			if items[i].of(scope.Names) {
				out.Items = append(out.Items, items[i])
			}
		}
	}
	out.Unseen = v.unseen
	return out, nil
}

// of reports whether the item belongs to a cluster with one of the names. No names are any cluster.
func (i *Item) of(names []string) bool {
	return len(names) == 0 || slices.ContainsFunc(i.names, func(n string) bool { return slices.Contains(names, n) })
}

// String returns the object's name as kubectl accepts it, with its namespace.
func (i *Item) String() string { return i.Object() + " in namespace " + i.Namespace }

// Object returns the object's name as kubectl accepts it.
func (i *Item) Object() string {
	resource := strings.TrimSuffix(i.Resource, "s")
	if i.Group == druidv1alpha1.GroupName || i.Group == "coordination.k8s.io" {
		resource += "." + i.Group
	}
	return resource + "/" + i.Name
}

// Left returns the items that are left over, or of which it is not known.
func (s *State) Left() []Item {
	return slices.DeleteFunc(slices.Clone(s.Items), func(i Item) bool { return i.Result.Action == rules.InUse })
}

// find returns the items of a kind, judged and in order.
func (v *view) find(ctx context.Context, kind rules.Kind) ([]Item, error) {
	finders := map[rules.Kind]func(context.Context) ([]Item, error){
		rules.Journal: v.findJournals, rules.ClientTraffic: v.findCuts, rules.Suspension: v.findSuspensions, rules.Lock: v.findLocks,
		rules.Rollout: v.findRollouts, rules.Budget: v.findBudgets, rules.MemberLease: v.findMemberLeases, rules.VolumeClaim: v.findClaims,
		rules.HelperPod: v.findHelpers, rules.KeptData: v.findKept,
	}
	items, err := finders[kind](ctx)
	if apierrors.IsForbidden(err) {
		v.unsure(string(kind), err)
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("find what is left over (%s): %w", kind, err)
	}
	for i := range items {
		v.judge(ctx, kind, &items[i])
	}
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return items, nil
}

// judge completes an item.
func (v *view) judge(ctx context.Context, kind rules.Kind, i *Item) {
	i.Facts.Kind = kind
	i.Namespace, i.Name = i.object.GetNamespace(), i.object.GetName()
	if !i.Since.IsZero() {
		i.Facts.Age = v.now.Sub(i.Since)
	}
	if o := i.Owner; o != nil {
		i.Cluster = o.Target().String()
		i.names = append(i.names, o.Name, o.StatefulSet)
		for _, w := range o.Workloads {
			i.names = append(i.names, w.Name)
		}
	}
	i.Result = rules.Evaluate(i.Facts)
	if i.note != "" {
		i.Result.Message += ": " + i.note
	}
	switch i.Result.Action {
	case rules.Remove:
		i.Ways = []string{v.command("sweep", i.Namespace, "--remove")}
	case rules.RemoveClaim:
		i.Ways = []string{v.command("sweep", i.Namespace, "--remove --delete-claims "+i.Name)}
	case rules.ByHand:
		i.Ways = v.ways(ctx, i)
	case rules.NotKnown, rules.InUse:
	}
	i.addOperation()
}

// addOperation adds the operation of a journal to the message, and how to continue one of which no
// command is known.
func (i *Item) addOperation() {
	if i.journal == nil {
		return
	}
	i.Result.Message = "kubectl etcd " + format.PrintableLine(i.journal.Kind) + ": " + i.Result.Message
	if i.Result.Action == rules.ByHand && len(i.Ways) == 0 {
		i.Result.Message += ": continue it with the command that began it"
	}
}

// command returns a command of the plugin, with the user's flags.
func (s *Sweeper) command(verb, namespace, rest string) string {
	if rest != "" {
		rest = " " + rest
	}
	return "kubectl etcd " + verb + rest + " -n " + namespace + s.Flags + s.Login
}

// again returns an item as it is now, nil if its object does not exist any more.
func (s *Sweeper) again(ctx context.Context, i *Item) (*Item, error) {
	v := s.newView(i.Namespace)
	items, err := v.find(ctx, i.Facts.Kind)
	if err != nil {
		return nil, err
	}
	for at := range items {
		if now := &items[at]; now.Name == i.Name && now.object.GetUID() == i.object.GetUID() {
			return now, nil
		}
	}
	if len(v.unseen) > 0 {
		return nil, fmt.Errorf("read %s again: %s: %s", i, v.unseen[0].What, v.unseen[0].Why)
	}
	return nil, nil
}

// usesClaim reports whether a pod mounts a volume claim.
func usesClaim(pod *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(vol corev1.Volume) bool {
		return vol.PersistentVolumeClaim != nil && vol.PersistentVolumeClaim.ClaimName == claim
	})
}

// exists reports whether an object exists.
func (v *view) exists(ctx context.Context, what, namespace, name string, o client.Object) rules.Known {
	found, err := v.Reader.Fetch(ctx, namespace, name, o)
	if err != nil {
		return v.unsure(what, err)
	}
	return rules.Of(found)
}
