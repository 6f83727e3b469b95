// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"fmt"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// Removable returns the items that may be removed, and of the volume claims those that the user names.
// It returns a *operate.RefusedError if one of these may not be removed.
func (s *State) Removable(claims []string) ([]Item, error) {
	var out []Item
	var why []string
	left := slices.Clone(claims)
	for _, i := range s.Items {
		named := i.Facts.Kind == rules.VolumeClaim && slices.Contains(claims, i.Name)
		if named {
			left = slices.DeleteFunc(left, func(name string) bool { return name == i.Name })
		}
		switch {
		case i.Result.Action == rules.Remove, named && i.Result.Action == rules.RemoveClaim:
			out = append(out, i)
		case named:
			why = append(why, fmt.Sprintf("%s: %s", &i, i.Result.Message))
		}
	}
	if len(left) > 0 {
		why = append(why, fmt.Sprintf("no member of these clusters has %s", policy.Names(left, "as its volume claim", "as their volume claims")))
	}
	if len(why) > 0 {
		return nil, &operate.RefusedError{What: "delete volume claims", Why: why}
	}
	return out, nil
}

// Plan returns the plan to remove items.
func Plan(items []Item) operate.Plan {
	if len(items) == 0 {
		return operate.Plan{Already: "Nothing is left behind that can be removed."}
	}
	p := operate.Plan{Title: "remove what is left over: " + policy.Count(len(items), "object")}
	var subject []string
	for at := range items {
		i := &items[at]
		p.Steps = append(p.Steps, fmt.Sprintf("%s %s: %s", act(i), i, i.Result.Message))
		subject = append(subject, string(i.Facts.Kind)+" "+i.String()+" "+string(i.object.GetUID())+" "+annotation.FormatKeptData(i.due))
		p.Warnings = append(p.Warnings, i.warnings...)
		switch i.Facts.Kind {
		case rules.Rollout:
			p.Warnings = append(p.Warnings, fmt.Sprintf("Kubernetes then continues the rollout of %s. It restarts pods without regard for the health of etcd.", i))
		case rules.VolumeClaim:
			p.Warnings = append(p.Warnings, fmt.Sprintf("The data of %s is deleted with it.", i))
		case rules.KeptData:
			p.Warnings = append(p.Warnings, fmt.Sprintf("The old data of %s can't be brought back.", i))
		case rules.Journal, rules.ClientTraffic, rules.Suspension, rules.Lock, rules.Budget, rules.MemberLease, rules.HelperPod:
		}
	}
	p.Needs = needsOf(items)
	p.Facts = []string{"each object is judged again before it is removed"}
	p.Subject = strings.Join(subject, "\n")
	return p
}

// actDelete is what act returns for an object that is deleted.
const actDelete = "delete"

// act returns what is done with an item.
func act(i *Item) string {
	if budget, is := i.object.(*policyv1.PodDisruptionBudget); is && created(budget) {
		return actDelete
	}
	switch i.Facts.Kind {
	case rules.Rollout:
		return "restore the update strategy of"
	case rules.Budget:
		return "restore the author's number of"
	case rules.KeptData:
		return "delete the old data of"
	case rules.Journal, rules.ClientTraffic, rules.Suspension, rules.Lock, rules.MemberLease, rules.VolumeClaim, rules.HelperPod:
	}
	return actDelete
}

// needsOf returns the permissions to remove items.
func needsOf(items []Item) []operate.Need {
	var needs []operate.Need
	add := func(n operate.Need) {
		if !slices.Contains(needs, n) {
			needs = append(needs, n)
		}
	}
	for at := range items {
		i := &items[at]
		verbs := []string{"get", "delete"}
		if i.Facts.Kind == rules.KeptData {
			for _, n := range i.needs {
				add(n)
			}
			verbs = nil
		} else if act(i) != actDelete {
			verbs = []string{"get", "patch"}
		}
		for _, verb := range verbs {
			add(operate.Need{Verb: verb, Group: i.Group, Resource: i.Resource, Namespace: i.Namespace, Name: i.Name})
		}
		if i.Owner != nil {
			add(operate.Need{Verb: "create", Group: "events.k8s.io", Resource: "events", Namespace: i.Namespace})
		}
	}
	return needs
}
