// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// Labels and annotations in which Helm and its charts record where an object is from.
const (
	helmRelease   = "meta.helm.sh/release-name"
	helmNamespace = "meta.helm.sh/release-namespace"
	helmChart     = "helm.sh/chart"
	managedBy     = "app.kubernetes.io/managed-by"
	chartInstance = "app.kubernetes.io/instance"
)

// Release returns the name of the Helm release that an owner is from, empty for none. Helm annotates all that it applies,
// and a chart that is rendered by another program has its labels alone. Commands that are printed contain
// the name, so it is never a text that Helm doesn't accept as a name.
func (o Owner) Release() string {
	release := o.Annotations[helmRelease]
	if len(validation.IsDNS1123Subdomain(release)) > 0 {
		return ""
	}
	return release
}

// ReleaseNamespace returns the namespace of the Helm release that an owner is from.
func (o Owner) ReleaseNamespace() string {
	namespace := o.Annotations[helmNamespace]
	if len(validation.IsDNS1123Label(namespace)) > 0 {
		return o.Namespace
	}
	return namespace
}

// Values returns the values in which a user changes what a chart sets for an owner, empty if no release and no label
// shows that it is from a chart.
func (o Owner) Values() string {
	switch release := o.Release(); {
	case o.HelmRelease() != "":
		return "the values of HelmRelease " + o.HelmRelease()
	case release != "":
		return "the values of Helm release " + release
	case o.Labels[managedBy] == "Helm" || o.Labels[helmChart] != "":
		return renderedValues
	}
	return ""
}

const renderedValues = "the values from which its manifests are rendered"

// Membership returns who manages the members of this cluster and how to have them
// changed, with the names of its own objects.
//
//nolint:gocyclo // one case a way
func (o Owner) Membership() flavour.Membership {
	switch {
	case o.Controller != nil:
	case len(o.PodsBeside) > 0:
		return o.membershipBeside()
	case o.Spans():
		return o.membershipBySets()
	}
	m := o.Product().Membership
	switch {
	case o.Controller != nil && m.Manager == flavour.Unmanaged:
		return o.byController("created the StatefulSet and may revert the change")
	case m.ManagerName == flavour.Nothing && o.Controller != nil && GroupOf(o.Controller) != appsv1.GroupName:
		return o.byController("created the pods")
	case slices.ContainsFunc(o.MemberChanges, manages) && m.Manager == flavour.Unmanaged:
		m = o.byScript()
	case m.ChartValue != "" && m.Manager == flavour.Unmanaged:
		m.ScaleHow = o.setValueToo(m.ChartValue)
	case m.ChartValue != "":
		m.ScaleHow = o.setValue(m.ChartValue) + m.ScaleHow
	case m.Manager == flavour.Unmanaged && o.Values() != "":
		m.ScaleHow = o.setReplicasToo()
	}
	return o.named(m)
}

// named returns a product's membership with the names of the cluster's objects.
func (o Owner) named(m flavour.Membership) flavour.Membership {
	name := o.Name
	if m.Manager == flavour.ByOperator && o.controlled() {
		name = o.Controller.Name
	}
	fill := strings.NewReplacer("NAMESPACE", o.Namespace, "NAME", name, "VALUES", cmp.Or(o.Values(), renderedValues))
	m.ScaleHow, m.ScaleInHow, m.ReplaceHow = fill.Replace(m.ScaleHow), fill.Replace(m.ScaleInHow), fill.Replace(m.ReplaceHow)
	return m
}

// manages reports whether a command may change members. A program of the image may do anything, and most do not: the plan
// of a change warns of it.
func manages(m etcdconf.MemberChange) bool { return !m.Elsewhere }

// controlled reports whether another object controls the StatefulSet of the cluster.
func (o Owner) controlled() bool { return o.Controller != nil && o.WorkloadKind == StatefulSet }

// Object returns the object from which an operator makes the cluster, as kubectl accepts it: that which controls its
// StatefulSet, or the owner. kind is its kind for people.
func (o Owner) Object() (typed, kind string) {
	if o.controlled() {
		return TypedName(o.Controller), o.Controller.Kind
	}
	return strings.ToLower(o.Kind) + " " + o.Name, o.Kind
}

// Unmanaged reports whether no program manages the members and one StatefulSet runs them. Only then the plugin itself
// adds, removes and replaces them with their pods.
func (o Owner) Unmanaged() bool {
	return o.Membership().Manager == flavour.Unmanaged && !o.WithoutStatefulSet()
}

// byController returns the membership where a controller that is not known made the workload.
func (o Owner) byController(made string) flavour.Membership {
	who := o.Controller.Kind + "/" + o.Controller.Name
	edit := fmt.Sprintf("kubectl edit %s -n %s", TypedName(o.Controller), o.Namespace)
	return flavour.Membership{
		Manager: flavour.ByOperator, ManagerName: who, RemovesMembers: true,
		ScaleHow:   "change the number of members in " + who + ", which " + made + ": " + edit,
		ReplaceHow: "see in the documentation of " + o.Controller.Kind + " how a member is replaced: " + who + " " + made,
	}
}

// byScript returns the membership where a command of the pods changes members, or may do so: a script that
// can't be read.
func (o Owner) byScript() flavour.Membership {
	shown := slices.DeleteFunc(slices.Clone(o.MemberChanges), func(m etcdconf.MemberChange) bool { return m.Unread != "" })
	if len(shown) == 0 {
		unread := o.MemberChanges[slices.IndexFunc(o.MemberChanges, manages)]
		return flavour.UnreadScript(unread.Where(), unread.Unread)
	}
	scale := "kubectl scale statefulset " + o.StatefulSet + " --replicas N -n NAMESPACE"
	if o.Values() != "" {
		scale = "change the number of replicas in VALUES"
	}
	removes := slices.ContainsFunc(shown, etcdconf.MemberChange.RemovesLeaving)
	return flavour.StartScript(shown[0].Where()+" ("+shown[0].Command()+")", scale, removes)
}

// TypedName returns the kind and the name of an object as kubectl accepts them where several groups have a kind of that
// name. The API server accepts any text in a reference, which other users write. What no object can have is a
// placeholder: a command that is printed contains it.
func TypedName(ref *metav1.OwnerReference) string {
	kind := strings.ToLower(ref.Kind)
	if group, _, grouped := strings.Cut(ref.APIVersion, "/"); grouped {
		kind += "." + group
	}
	if len(validation.IsDNS1123Subdomain(kind)) > 0 || len(content.IsPathSegmentName(ref.Name)) > 0 || format.Quote(ref.Name) != ref.Name || strings.HasPrefix(ref.Name, "-") {
		return "KIND NAME"
	}
	return kind + " " + ref.Name
}
