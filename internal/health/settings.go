// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// member returns the pod of the first member of the part that is judged, or the one that is created next, and nil
// where there is neither.
func (f *Facts) member() *corev1.Pod {
	pods := f.partPods()
	switch {
	case len(pods) > 0:
		return pods[0]
	case f.StatefulSet.Value != nil:
		return etcdconf.PodOfTemplate(f.StatefulSet.Value)
	}
	return nil
}

// servingOf returns how a member serves, or the finding that explains why that isn't known.
func (f *Facts) servingOf(pod *corev1.Pod) (*etcdconf.Config, []Finding) {
	got, has := f.Serving[pod.Name]
	switch {
	case !has:
		return nil, notApplicable("the configuration of the members is not known")
	case got.Err != nil:
		return nil, []Finding{unknown("the configuration of "+pod.Name, got.Err)}
	}
	return &got.Value, nil
}

// inspectedPod returns the pod of a member, or the finding that explains why there is no pod to inspect.
func (f *Facts) inspectedPod() (*corev1.Pod, []Finding) {
	pod := f.member()
	switch {
	case f.Pods.Err != nil:
		return nil, []Finding{unknown("the pods", f.Pods.Err)}
	case pod == nil && f.StatefulSet.Err != nil:
		return nil, []Finding{unknown("the StatefulSet", f.StatefulSet.Err)}
	case pod == nil:
		return nil, notApplicable("there is no pod to inspect")
	}
	return pod, nil
}

// pod returns the pod of a member by name, nil where there is none.
func (f *Facts) pod(name string) *corev1.Pod { return PodNamed(f.Pods.Value, name) }

// PodNamed returns the pod of that name, nil where there is none.
func PodNamed(pods []*corev1.Pod, name string) *corev1.Pod {
	i := slices.IndexFunc(pods, func(p *corev1.Pod) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return pods[i]
}

// static reports whether a pod is the mirror of one that the kubelet of its node runs from a
// file. It stays on that node, with the node's IP and disk, and no drain evicts it.
func static(pod *corev1.Pod) bool {
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror
}

// StaticPods reports whether all members are static pods.
func (f *Facts) StaticPods() bool {
	return len(f.Pods.Value) > 0 && !slices.ContainsFunc(f.Pods.Value, func(p *corev1.Pod) bool { return !static(p) })
}

// arguments returns what a container executes, split at spaces. Shell scripts are not parsed,
// only searched for etcd's flags.
func arguments(c *corev1.Container) []string {
	var out []string
	for _, w := range slices.Concat(c.Command, c.Args) {
		out = append(out, strings.Fields(w)...)
	}
	return out
}

// setting returns the value of one of etcd's settings in the pod's own spec, from a flag or the
// environment, and empty where there is none. It is for pods of which [Facts.Serving] has no configuration.
func (f *Facts) setting(pod *corev1.Pod, name string) string {
	c := etcdContainer(pod)
	if c == nil {
		return ""
	}
	all := arguments(c)
	for i, w := range all {
		flag, value, has := strings.Cut(strings.TrimLeft(w, "-"), "=")
		switch {
		case !strings.HasPrefix(w, "-") || flag != name:
		case has:
			return strings.Trim(value, "'\"")
		case i+1 < len(all) && !strings.HasPrefix(all[i+1], "-"):
			return all[i+1]
		default:
			return "true"
		}
	}
	variable := "ETCD_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	for _, e := range c.Env {
		if e.Name == variable {
			return e.Value
		}
	}
	return ""
}

// dataDir returns the data directory of a pod's member, empty where it isn't known.
func (f *Facts) dataDir(pod *corev1.Pod) string {
	dir := f.setting(pod, "data-dir")
	if got, has := f.Serving[pod.Name]; has && got.Err == nil && got.Value.DataDir != "" {
		if got.Value.Unknown["data-dir"] != "" { // it then has etcd's default, or what one way of a script sets
			return ""
		}
		dir = got.Value.DataDir
	}
	if !etcdconf.IsKnownDir(dir) {
		return ""
	}
	return dir
}

// volumeAt returns the volume that a path of the etcd container is in. It is false where the
// path is in no volume.
func volumeAt(pod *corev1.Pod, at string) (corev1.Volume, bool) {
	mount, _ := etcdconf.MountAt(etcdContainer(pod), at)
	if mount == nil {
		return corev1.Volume{}, false
	}
	i := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
	if i < 0 {
		// A StatefulSet's template doesn't list the volumes of its claim templates.
		return corev1.Volume{Name: mount.Name}, true
	}
	return pod.Spec.Volumes[i], true
}

// change returns an order to change a setting of the members, with the object in which it is
// changed: a change of another object is written back by its owner. inFields is the order where the
// cluster's object has fields for the settings, with FIELD for each one. It is empty where no object has one.
func (f *Facts) change(order, inFields string, settings ...flavour.Setting) string {
	o := f.Owner
	release, w := o.Release(), o.Membership()
	switch {
	case o.Product().Fields != nil:
		return f.changeFields(order, inFields, settings)
	case o.Product().Settings != "":
		return order + " " + o.Product().Settings
	case o.Controller != nil:
		return order + " through " + o.Controller.Kind + " " + o.Controller.Name + ", as far as it has a field for it: " +
			f.kubectl("edit "+owner.TypedName(o.Controller))
	case o.WithoutStatefulSet() && o.Target().Kind != "":
		return order + " through " + o.Kind + " " + o.Name + ", as far as it has a field for it: " + f.kubectl("edit "+owner.TypedName(&metav1.OwnerReference{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name}))
	case release != "" && o.HelmRelease() == "":
		return order + " in " + o.Values() + ", which helm get values " + release + " -n " + o.ReleaseNamespace() + " prints"
	case o.Values() != "":
		return order + " in " + o.Values()
	case w.ManagerName == flavour.Nothing:
		return order + " in the manifests of its pods"
	case w.Manager == flavour.ByOperator:
		return order + " through " + w.ManagerName
	}
	if o.Spans() && f.part == "" {
		order += " in StatefulSets " + o.WorkloadNames()
	}
	return order + ": " + f.kubectl("edit statefulset "+o.StatefulSet)
}

// changeFields returns an order to change settings of the members in fields of the cluster's object.
func (f *Facts) changeFields(order, inFields string, settings []flavour.Setting) string {
	o := f.Owner
	object, kind := o.Object()
	for _, s := range settings {
		field := o.Product().Fields[s]
		if field == "" {
			inFields = ""
			break
		}
		inFields = strings.Replace(inFields, "FIELD", field, 1)
	}
	if inFields == "" {
		return order + ", which only " + o.Membership().ManagerName + " can do: an " + kind + " has no field for it"
	}
	return inFields + ": " + f.kubectl("edit "+object)
}

// writable reports whether a person changes the members' pods in the StatefulSet.
func (f *Facts) writable() bool {
	o := f.Owner
	return o.StatefulSet != "" && o.Controller == nil && o.Values() == "" && o.Membership().Manager != flavour.ByOperator
}
