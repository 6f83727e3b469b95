// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// Hint is why a container may run etcd although nothing shows it.
type Hint struct {
	// Container is empty for a hint that is the pod's.
	Container, Text string
}

// MayRunEtcd reports whether a pod runs etcd, or anything hints at it.
func MayRunEtcd(pod *corev1.Pod) bool {
	return RunsEtcd(pod) || len(HintsOf(pod)) > 0
}

// HintsOf returns what hints at etcd in a pod. It is empty for a pod that declares or shows its
// member, and for one that declares that it has none.
func HintsOf(pod *corev1.Pod) []Hint {
	if pod.Annotations[v1alpha1.EtcdAnnotation] == v1alpha1.NotEtcd || RunsEtcd(pod) {
		return nil
	}
	var hints []Hint
	for _, c := range containers.Of(&pod.Spec) {
		hints = append(hints, hintsOf(pod, c)...)
	}
	if text := copyHint(pod); text != "" {
		hints = append(hints, Hint{Text: text})
	}
	if label := labelHint(pod.Labels); label != "" && (len(hints) > 0 || !runsOthersOnly(pod)) {
		hints = append(hints, Hint{Text: label})
	}
	return hints
}

// notMembers are programs of etcd's that are no member. A container that runs one of them isn't etcd,
// whatever its image is called.
var notMembers = map[string]bool{"etcd grpc-proxy": true, "etcd gateway": true, "etcd --version": true, "etcd --proxy": true, "etcdctl": true, "etcdutl": true}

// runsOthersOnly reports whether each container is known to run one of etcd's other programs.
func runsOthersOnly(pod *corev1.Pod) bool {
	return !slices.ContainsFunc(containers.Of(&pod.Spec), func(c *corev1.Container) bool {
		return !notMembers[startedIn(pod, c, nil).Program]
	})
}

//nolint:gocyclo // one case a kind of hint
func hintsOf(pod *corev1.Pod, c *corev1.Container) []Hint {
	started := startedIn(pod, c, nil)
	if notMembers[started.Program] {
		return nil
	}
	var texts []string
	add := func(format string, args ...any) { texts = append(texts, fmt.Sprintf(format, args...)) }
	switch {
	case started.ByName && evidenceOf(pod, c, nil) == Hinted:
		add("its arguments name etcd, and the image decides what it executes")
	case started.Program == "etcd" && isProxy(c):
		return nil
	case started.Unsure:
		add("the first argument of etcd is %s, which is only known in the pod", first(started.Args))
	case started.Program == "etcd" && evidenceOf(pod, c, nil) < Shown:
		add("only some ways of its script run etcd")
	case len(started.Args) > 0 && (started.Args[0] == "etcd" || strings.HasSuffix(started.Args[0], "bin/etcd")) && !script.IsTool(started.Program):
		add("the first argument of its command is %s", first(started.Args))
	case started.Perhaps && started.Path != "":
		add("its command is %s, and it contains etcd or flags of a member", started.Path)
	case started.Perhaps:
		add("its script executes a program that may be etcd, or that gets etcd as an argument")
	case started.Program == "etcd":
		add("it runs etcd, and so does another container")
	case slices.Contains(launchers, started.Program):
		add("it runs %s", started.Program)
	}
	if name := memberVariable(c); name != "" {
		add("variable %s", name)
	}
	if isEtcdImage(c.Image) || isLauncherImage(c.Image) {
		add("image %s", c.Image)
	}
	if port := etcdPort(c.Ports); port != "" {
		add("port %s", port)
	}
	if named := started.Perhaps && started.Path != ""; len(texts) > 0 && started.Program != "etcd" && started.Program != "" && !named {
		add("its command is %s, which may be a launcher", cmp.Or(first(c.Command), first(c.Args)))
	}
	out := make([]Hint, 0, len(texts))
	for _, text := range texts {
		out = append(out, Hint{Container: c.Name, Text: text})
	}
	return out
}

func memberVariable(c *corev1.Container) string {
	for _, e := range c.Env {
		if memberEnv[e.Name] {
			return e.Name
		}
	}
	return ""
}

// isEtcdImage reports whether an image is called etcd, as that of a mirror or for an architecture also is.
func isEtcdImage(image string) bool {
	name := imageName(image)
	is := name == "etcd" || strings.HasPrefix(name, "etcd-") || strings.HasSuffix(name, "-etcd")
	return is && !besideEtcd.MatchString(name)
}

// isBesideEtcd reports whether an image is called as a program that works with etcd, such as etcd-backup.
func isBesideEtcd(image string) bool {
	name := imageName(image)
	return strings.Contains(name, "etcd") && besideEtcd.MatchString(name)
}

// besideEtcd finds the names of images of programs that work with etcd.
var besideEtcd = regexp.MustCompile(`(?:^|-)(?:` +
	`backup(?:s|er)?|restore|snapshots?|snapshotter|dump|druid|operator|controller|webhook|kubectl|exporter|metrics|monitor(?:ing)?|` +
	`defrag(?:mentation)?|compact(?:or|ion)?|browser|keeper|viewer|dashboard|proxy|client|ui|adapter|helper|tools?|utils?|cli|init|sync|` +
	`mirror|migrat(?:e|or|ion)|watch(?:er)?|wait|probe|check(?:er)?|certs?|bench(?:mark)?|tests?|e2e` +
	`)(?:-|$)`)

// etcdPort returns the port of a container that etcd has by default, empty for none.
func etcdPort(ports []corev1.ContainerPort) string {
	for _, p := range ports {
		if p.ContainerPort == 2379 || p.ContainerPort == 2380 {
			return fmt.Sprint(p.ContainerPort)
		}
	}
	return ""
}

// labelKeys are labels that name what a pod runs.
var labelKeys = []string{"app.kubernetes.io/name", "app.kubernetes.io/component", "app", "component", "k8s-app"}

func labelHint(labels map[string]string) string {
	for _, key := range labelKeys {
		if value := labels[key]; value == "etcd" || strings.HasPrefix(value, manager) {
			return fmt.Sprintf("label %s=%s", key, value)
		}
	}
	return ""
}

// first returns the first of a command's arguments, cut where a script follows it without a space.
func first(argv []string) string {
	const longest = 80
	if len(argv) == 0 {
		return ""
	}
	word, _, _ := strings.Cut(argv[0], "\n")
	if len(word) > longest {
		word = word[:longest] + "..."
	}
	return word
}
