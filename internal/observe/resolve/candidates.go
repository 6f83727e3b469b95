// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// Candidate is a workload that may run etcd. Nothing is done for it until its users declare it.
type Candidate struct {
	// Kind and Name are of the object that declares its pods: a StatefulSet, Deployment,
	// DaemonSet or ReplicaSet, or a pod.
	Kind, Namespace, Name string
	Labels                map[string]string
	// Hints are why it may run etcd, each once.
	Hints []string
	// Problem is why its declaration or its member's container is not known, empty for none.
	Problem string
	// Containers are those that may be declared, the hinted ones if there are any.
	Containers []string
	// declared is true where the object has the annotation already.
	declared bool
	// manifest is true for static pods: only the file on their nodes can declare them.
	manifest bool
}

// String returns the candidate as in messages.
func (c Candidate) String() string { return c.Kind + " " + c.Namespace + "/" + c.Name }

// Target names the candidate as commands take it.
func (c Candidate) Target() owner.Target {
	return owner.Target{Kind: strings.ToLower(c.Kind), Name: c.Name}
}

// DeclareWith returns the commands that declare its container, one for each that may be it. It is
// empty for static pods.
func (c Candidate) DeclareWith() []string {
	var out []string
	for _, name := range c.Containers {
		out = append(out, c.annotate(name)...)
	}
	return out
}

// DenyWith returns the command that declares that it runs no etcd. It is empty for static pods.
func (c Candidate) DenyWith() string { return strings.Join(c.annotate(v1alpha1.NotEtcd), "") }

func (c Candidate) annotate(value string) []string {
	if c.manifest {
		return nil
	}
	command := fmt.Sprintf("kubectl annotate %s %s -n %s %s=%s", strings.ToLower(c.Kind), c.Name, c.Namespace, v1alpha1.EtcdAnnotation, value)
	if c.declared {
		command += " --overwrite"
	}
	return []string{command}
}

// Manifest reports whether only a file on nodes can declare it: the kubelet creates its pods.
func (c Candidate) Manifest() bool { return c.manifest }

// Candidates lists the workloads that may run etcd, and those with a wrong declaration, in the order
// of their names.
func Candidates(ctx context.Context, r *observe.Reader, opts ...client.ListOption) ([]Candidate, error) {
	var sets appsv1.StatefulSetList
	if err := r.List(ctx, &sets, opts...); err != nil {
		return nil, fmt.Errorf("list StatefulSets: %w", err)
	}
	found := map[string]*Candidate{}
	for i := range sets.Items {
		// What its pods mount may show that it is a cluster.
		if owner, _ := r.Standalone(ctx, &sets.Items[i]); owner.Mounted != "" {
			continue
		}
		if c, is := candidateOfSet(&sets.Items[i]); is {
			found[c.String()] = &c
		}
	}
	pods, err := r.PodsAsDeclared(ctx, opts...)
	if err != nil {
		return nil, err
	}
	for i := range pods {
		c, is := candidateOfPod(&pods[i])
		if have := found[c.String()]; is && have == nil {
			found[c.String()] = &c
		}
	}
	out := make([]Candidate, 0, len(found))
	for _, c := range found {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// candidateOfSet returns a StatefulSet as a candidate. That of an Etcd is none: its Etcd shows what
// it runs.
func candidateOfSet(sts *appsv1.StatefulSet) (Candidate, bool) {
	if _, ofDruid := owner.EtcdOf(sts); ofDruid || etcdconf.DeniesEtcd(sts) {
		return Candidate{}, false
	}
	_, runs := owner.Standalone(sts)
	_, declared := sts.Annotations[v1alpha1.EtcdAnnotation]
	c := Candidate{Kind: "StatefulSet", Namespace: sts.Namespace, Name: sts.Name, Labels: sts.Labels, declared: declared}
	return c, c.judge(etcdconf.PodOfTemplate(sts), runs)
}

// candidateOfPod returns the workload of a pod that no StatefulSet and no Job made as a candidate.
func candidateOfPod(pod *corev1.Pod) (Candidate, bool) {
	if !owner.CountsAsMember(pod) {
		return Candidate{}, false
	}
	c := Candidate{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Labels: pod.Labels}
	_, c.declared = pod.Annotations[v1alpha1.EtcdAnnotation]
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		c.manifest = ref.Kind == "Node"
		if top := owner.TopController(pod, ref); owner.GroupOf(top) == appsv1.GroupName && observe.DeclaresPods(top.Kind) {
			c.Kind, c.Name = top.Kind, top.Name
		}
	}
	return c, c.judge(pod, etcdconf.RunsEtcd(pod))
}

// judge fills in what is known of a candidate by one of its pods, and reports whether it is one. A
// cluster is one only with a problem.
func (c *Candidate) judge(pod *corev1.Pod, runs bool) bool {
	var wrong *etcdconf.DeclarationError
	err := etcdconf.MemberOf(pod).Err
	if err != nil && (!runs || errors.As(err, &wrong)) {
		c.Problem = err.Error()
	}
	if runs && c.Problem == "" {
		return false
	}
	for _, h := range etcdconf.HintsOf(pod) {
		text := h.Text
		if h.Container != "" {
			text = "container " + h.Container + ": " + text
			if !slices.Contains(c.Containers, h.Container) {
				c.Containers = append(c.Containers, h.Container)
			}
		}
		if !slices.Contains(c.Hints, text) {
			c.Hints = append(c.Hints, text)
		}
	}
	if len(c.Containers) == 0 {
		for _, of := range containers.Of(&pod.Spec) {
			c.Containers = append(c.Containers, of.Name)
		}
	}
	return c.Problem != "" || len(c.Hints) > 0
}

// hinted returns the candidates that a target names, all of the namespace where it names none. It is
// for messages: where the user may not list the kinds, there are none.
func hinted(ctx context.Context, r *observe.Reader, namespace string, t owner.Target) []Candidate {
	all, err := Candidates(ctx, r, client.InNamespace(namespace))
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(c Candidate) bool {
		return t.Name != "" && (c.Name != t.Name || t.Kind != "" && t.Kind != c.Target().Kind)
	})
}

// hinted returns the message for a target that may be etcd.
func (e *NotFoundError) hinted() string {
	if e.Target.Name == "" {
		return fmt.Sprintf("no etcd cluster in namespace %s is known, but %s; kubectl etcd list --all -n %s shows why, and how to declare it",
			e.Namespace, countHinted(len(e.Hinted)), e.Namespace)
	}
	var lines []string
	for _, c := range e.Hinted {
		lines = append(lines, c.Explain())
	}
	return strings.Join(lines, "\n")
}

func countHinted(n int) string {
	if n == 1 {
		return "1 workload may run etcd"
	}
	return fmt.Sprintf("%d workloads may run etcd", n)
}

// Explain returns why a workload may run etcd, and the commands that declare or deny it.
func (c Candidate) Explain() string {
	text := fmt.Sprintf("%s may run etcd, but nothing shows that it does", c)
	if len(c.Hints) > 0 {
		text += " (" + strings.Join(c.Hints, "; ") + ")"
	}
	if c.Problem != "" {
		text = c.String() + ": " + c.Problem
	}
	if c.manifest {
		return fmt.Sprintf("%s. If it does, set the annotation %s in the manifest on its nodes", text, v1alpha1.EtcdAnnotation)
	}
	return fmt.Sprintf("%s. If it does, declare it: %s", text, strings.Join(c.DeclareWith(), " or "))
}
