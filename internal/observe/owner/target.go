// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// Target is what a user types to name an etcd cluster: the cluster, or an object that belongs to it.
type Target struct {
	// Kind is a value of targetKinds, such as etcd or statefulset; empty when
	// only a name was given.
	Kind string
	// Name is empty for the only cluster of the namespace.
	Name string
}

// String returns the target as ParseTarget accepts it.
func (t Target) String() string {
	if t.Kind == "" {
		return t.Name
	}
	return t.Kind + "/" + t.Name
}

// targetKinds are the kinds of a target by the names that kubectl accepts: singular, plural, short.
var targetKinds = map[string]string{
	"etcd": "etcd", "etcds": "etcd",
	"statefulset": "statefulset", "statefulsets": "statefulset", "sts": "statefulset",
	"service": "service", "services": "service", "svc": "service",
	"pod": "pod", "pods": "pod", "po": "pod",
	"etcdcluster": "etcdcluster", "etcdclusters": "etcdcluster",
	"deployment": "deployment", "deployments": "deployment", "deploy": "deployment",
	"daemonset": "daemonset", "daemonsets": "daemonset", "ds": "daemonset",
	"replicaset": "replicaset", "replicasets": "replicaset", "rs": "replicaset",
}

// targetGroups are the API groups that may follow a kind, as in statefulsets.apps or
// etcds.v1alpha1.druid.gardener.cloud.
var targetGroups = map[string][]string{
	"etcd":        flavour.Groups("Etcd"),
	"statefulset": {"apps"},
	"deployment":  {"apps"},
	"daemonset":   {"apps"},
	"replicaset":  {"apps"},
	"etcdcluster": flavour.Groups(EtcdClusterKind),
}

// ParseTarget parses NAME or TYPE/NAME as kubectl does: in any case, singular or plural, with short
// names and groups. The empty argument means the only cluster of the namespace.
func ParseTarget(arg string) (Target, error) {
	if arg == "" {
		return Target{}, nil
	}
	kind, name, typed := strings.Cut(arg, "/")
	if !typed {
		kind, name = "", arg
	}
	if name == "" || len(content.IsPathSegmentName(name)) > 0 {
		return Target{}, fmt.Errorf("target %q has no name that an object can have; give NAME or TYPE/NAME", arg)
	}
	if !typed {
		return Target{Name: name}, nil
	}
	resource, group, _ := strings.Cut(strings.ToLower(kind), ".")
	known, ok := targetKinds[resource]
	if !ok || group != "" && !inGroup(known, group) {
		return Target{}, fmt.Errorf("target %q has a type that no etcd cluster has; types are etcd, statefulset (sts), deployment, daemonset (ds), service (svc), pod (po) and etcdcluster", arg)
	}
	return Target{Kind: known, Name: name}, nil
}

// inGroup reports whether a suffix is one of the kind's groups, with or without a version before it.
func inGroup(kind, suffix string) bool {
	for _, group := range targetGroups[kind] {
		version, found := strings.CutSuffix(suffix, "."+group)
		if suffix == group || found && strings.HasPrefix(version, "v") {
			return true
		}
	}
	// The core group has no name, only a version: pods.v1.
	return len(targetGroups[kind]) == 0 && (suffix == "v1" || suffix == "v1.")
}

// Target returns the target that names the cluster in its namespace.
func (o Owner) Target() Target {
	switch {
	case o.WorkloadKind == StatefulSet:
		return Target{"statefulset", o.Name}
	case o.Kind != podsKind && (o.Controller == nil || o.hasType()):
		return Target{strings.ToLower(o.Kind), o.Name}
	}
	return Target{"", o.Name}
}

// hasType reports whether a type of targets means objects of the owner's kind. Another group may have a kind of the
// same name. All groups with an EtcdCluster are searched.
func (o Owner) hasType() bool {
	kind := targetKinds[strings.ToLower(o.Kind)]
	return kind == "etcdcluster" || slices.Contains(targetGroups[kind], schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).Group)
}

// Command returns a command of kubectl etcd for the cluster, with the arguments that follow the target.
func (o Owner) Command(verb string, args ...string) string {
	return strings.Join(slices.Concat([]string{"kubectl etcd", verb, o.Target().String()}, args, []string{"-n", o.Namespace}), " ")
}

// EtcdClusterKind is the kind of several operators' clusters.
const EtcdClusterKind = "EtcdCluster"
