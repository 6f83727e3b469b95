// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package entries lists the handlers of etcd-webhook and the requests that the API server
// sends to each of them. The program registers its handlers from this list, kubectl etcd
// webhook status compares an installation with it, and a test compares the manifests with it.
//
// The list is a package of its own so that the plugin can import it without the handlers.
package entries

import (
	"slices"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// Suffix ends the name of every webhook of this project.
const Suffix = ".etcd-webhook.kubectl-etcd.dev"

// The names of the handlers, which are values of the metrics' label handler.
const (
	Pod                 = "pod"
	PodDisruptionBudget = "poddisruptionbudget"
	Service             = "service"
	Owner               = "owner"
	Eviction            = "eviction"
	Scale               = "scale"
	Rollout             = "rollout"
	Uninstall           = "uninstall"
)

// Pods is the name of the entry for members' pods. Without it nothing is spread.
const Pods = "pods"

// Handler is a path that etcd-webhook serves.
type Handler struct {
	Name string
	Path string
	// Timeout is how long the API server waits for an answer. It lets the request pass
	// after that, or refuses it, by FailurePolicy.
	Timeout time.Duration
	// Limit is the time that the handler may take. It is shorter than Timeout, so that the
	// answer still arrives with its warnings.
	Limit         time.Duration
	FailurePolicy admissionregistrationv1.FailurePolicyType
	// Reinvocation is empty for a handler that changes nothing.
	Reinvocation admissionregistrationv1.ReinvocationPolicyType
	// Guard is true for a handler that protects members by refusing requests. A request
	// that it leaves undecided is refused; one that another handler leaves undecided passes. After
	// a panic, a request passes if FailurePolicy is Ignore.
	Guard bool
	// ClusterScoped is true for a handler of objects that have no namespace.
	ClusterScoped bool
	// Records is true for a handler that writes what it has allowed, except in a dry run.
	Records bool
	Entries []Entry
}

// SideEffects returns what the API server must know of a handler to call it in a dry run.
func (h Handler) SideEffects() admissionregistrationv1.SideEffectClass {
	if h.Records {
		return admissionregistrationv1.SideEffectClassNoneOnDryRun
	}
	return admissionregistrationv1.SideEffectClassNone
}

// Entry is a webhook of the MutatingWebhookConfiguration.
type Entry struct {
	// Name is without Suffix.
	Name           string
	Group, Version string
	// Resource has the form RESOURCE or RESOURCE/SUBRESOURCE.
	Resource   string
	Operations []admissionregistrationv1.OperationType
	// Without is the consequence of a missing entry, as a clause.
	Without string
}

// Handlers are all handlers, in the order of the manifests. A pod without its terms stays
// so, and a guard that answers too late lets the write pass, while the controller corrects a budget
// soon after. So pods and guards are worth the longest wait, and a warning the shortest.
var Handlers = []Handler{
	{
		Name: Pod, Path: "/mutate-pod", Timeout: 3 * time.Second, Limit: 2 * time.Second,
		FailurePolicy: admissionregistrationv1.Ignore, Reinvocation: admissionregistrationv1.IfNeededReinvocationPolicy,
		Entries: []Entry{
			{Pods, "", "v1", "pods", onCreate, "new members aren't spread"},
			{"cozystack-pods", "", "v1", "pods", onCreate, "new members of cozystack's etcd-operator aren't spread"},
		},
	},
	{
		Name: PodDisruptionBudget, Path: "/mutate-poddisruptionbudget", Timeout: 2 * time.Second, Limit: time.Second,
		FailurePolicy: admissionregistrationv1.Ignore, Reinvocation: admissionregistrationv1.IfNeededReinvocationPolicy,
		Entries: []Entry{
			{"poddisruptionbudgets", "policy", "v1", "poddisruptionbudgets", onCreateAndUpdate, "a loosened budget is corrected only a moment later"},
		},
	},
	{
		Name: Service, Path: "/mutate-service", Timeout: 2 * time.Second, Limit: time.Second,
		FailurePolicy: admissionregistrationv1.Ignore, Reinvocation: admissionregistrationv1.IfNeededReinvocationPolicy,
		Entries: []Entry{
			{"services", "", "v1", "services", onUpdate, "any write of a Service can end its traffic cut"},
		},
	},
	{
		Name: Owner, Path: "/warn-owner", Timeout: time.Second, Limit: 500 * time.Millisecond,
		FailurePolicy: admissionregistrationv1.Ignore,
		Entries: []Entry{
			{"etcds", "druid.gardener.cloud", "v1alpha1", "etcds", onCreate, "no warning shows what the members of a new Etcd get"},
			{"statefulsets", "apps", "v1", "statefulsets", onCreate, "no warning shows what the members of a new StatefulSet get"},
		},
	},
	{
		Name: Eviction, Path: "/guard-eviction", Timeout: 3 * time.Second, Limit: 2 * time.Second,
		FailurePolicy: admissionregistrationv1.Ignore, Guard: true, Records: true,
		Entries: []Entry{
			{"evictions", "", "v1", "pods/eviction", onCreate, "only the disruption budget decides about evictions, by facts that may be seconds old"},
			{"pod-deletions", "", "v1", "pods", onDelete, "nothing warns of the deletion of a member that the others need"},
		},
	},
	{
		Name: Scale, Path: "/guard-scale", Timeout: 3 * time.Second, Limit: 2 * time.Second,
		FailurePolicy: admissionregistrationv1.Ignore, Guard: true, Records: true,
		Entries: []Entry{
			{"etcd-replicas", "druid.gardener.cloud", "v1alpha1", "etcds", onUpdate, "an update of an Etcd can stop a quorum of its voters"},
			{"etcd-scale", "druid.gardener.cloud", "v1alpha1", "etcds/scale", onUpdate, "kubectl scale of an Etcd can stop a quorum of its voters"},
			{"statefulset-replicas", "apps", "v1", "statefulsets", onCreateAndUpdate, "an update of a StatefulSet can stop a quorum of its voters"},
			{"statefulset-scale", "apps", "v1", "statefulsets/scale", onUpdate, "kubectl scale of a StatefulSet can stop a quorum of its voters"},
		},
	},
	{
		Name: Rollout, Path: "/hold-rollout", Timeout: 3 * time.Second, Limit: 2 * time.Second,
		FailurePolicy: admissionregistrationv1.Ignore, Reinvocation: admissionregistrationv1.IfNeededReinvocationPolicy,
		Entries: []Entry{
			{"rollouts", "apps", "v1", "statefulsets", onCreateAndUpdate, "a new pod template restarts members without regard for the health of etcd"},
		},
	},
	{
		Name: Uninstall, Path: "/release-rollouts", Timeout: 3 * time.Second, Limit: 2 * time.Second,
		FailurePolicy: admissionregistrationv1.Ignore, ClusterScoped: true, Records: true,
		Entries: []Entry{
			{"definition-deletions", "apiextensions.k8s.io", "v1", Definitions, onDelete, "kubectl delete -k leaves rollouts held"},
			{"role-deletions", "rbac.authorization.k8s.io", "v1", "clusterroles", onDelete, "a deletion of the program's permissions leaves rollouts held"},
			{"binding-deletions", "rbac.authorization.k8s.io", "v1", "clusterrolebindings", onDelete, "a deletion of the program's permissions leaves rollouts held"},
		},
	},
}

// Definitions is the resource of the definition of policies. Of what kubectl delete -k deletes, the definition is
// the first object that the handler Uninstall is called for.
const Definitions = "customresourcedefinitions"

// Uninstalls reports whether the deletion of an object takes from etcd-webhook what it needs to hold a
// rollout: the policies, or its permissions. The manifests have the same names.
func Uninstalls(resource, name string) bool {
	switch resource {
	case Definitions:
		return name == "etcdtopologypolicies.policy.kubectl-etcd.dev"
	case "clusterroles", "clusterrolebindings":
		return name == "etcd-webhook"
	}
	return false
}

var (
	onCreate          = []admissionregistrationv1.OperationType{admissionregistrationv1.Create}
	onUpdate          = []admissionregistrationv1.OperationType{admissionregistrationv1.Update}
	onDelete          = []admissionregistrationv1.OperationType{admissionregistrationv1.Delete}
	onCreateAndUpdate = slices.Concat(onCreate, onUpdate)
)

// All returns the entries of all handlers, in the order of the manifests.
func All() []Entry {
	var all []Entry
	for _, h := range Handlers {
		all = append(all, h.Entries...)
	}
	return all
}
