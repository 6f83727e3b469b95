// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// RunsEtcd reports whether a pod is declared or shown to run a member of etcd. See [MemberOf].
func RunsEtcd(pod *corev1.Pod) bool { return MemberOf(pod).Evidence >= Shown }

// Evidence is how strong the evidence is that a pod runs a member of etcd.
type Evidence int

// The strengths. Only what is shown or declared may be acted on.
const (
	NoEvidence Evidence = iota
	// Hinted means that a container may run etcd: it has a variable of a member, or a script of
	// which only some ways run etcd.
	Hinted
	// Shown means that a container executes etcd on every way, or that the program is not
	// visible and the container has several variables of a member.
	Shown
	// Declared means that an annotation names the container. It counts like Shown.
	Declared
)

// evidenceIn returns the strongest evidence that a container of a pod has without a declaration.
// Contents has the scripts that the pod mounts from ConfigMaps, and the variables of envFrom. What
// can't be read is no evidence. The name of an image, a port or a label are none either: backup jobs,
// proxies and clients have them too.
func evidenceIn(pod *corev1.Pod, contents Contents) Evidence {
	strongest := NoEvidence
	for _, c := range containers.Of(&pod.Spec) {
		strongest = max(strongest, evidenceOf(pod, c, contents))
	}
	return strongest
}

func evidenceOf(pod *corev1.Pod, c *corev1.Container, contents Contents) Evidence {
	started := startedIn(pod, c, contents)
	switch {
	case started.Program == "etcd":
		switch {
		case isProxy(c):
			return NoEvidence
		case started.Unsure, started.Script != nil && !started.Script.SurelyRunsEtcd(), started.ByName && !seemsMember(c, started, contents):
			return Hinted
		}
		return Shown
	case notMembers[started.Program]:
		return NoEvidence
	case started.Perhaps:
		return max(Hinted, evidenceOfVariables(c, started, contents))
	}
	return evidenceOfVariables(c, started, contents)
}

// isProxy reports whether a variable has etcd before 3.6 run no member.
func isProxy(c *corev1.Container) bool {
	value, _ := shownVariable(c, "ETCD_PROXY", nil)
	return script.IsProxy(value)
}

// seemsMember reports whether a container whose image decides what the argument etcd means has something else of a
// member. A backup has a name and a data directory, too.
func seemsMember(c *corev1.Container, started script.Invocation, contents Contents) bool {
	flags, _ := script.Flags(started.Args)
	return isEtcdImage(c.Image) || slices.ContainsFunc(memberFlags, func(flag string) bool { _, has := flags[flag]; return has }) ||
		hasServerVariable(c, started.Env, contents)
}

// hasServerVariable reports whether the program behind a container's launchers gets a variable that only a server has.
func hasServerVariable(c *corev1.Container, launched script.Environment, contents Contents) (has bool) {
	for name := range serverEnv {
		has = has || launched.Assigns(name)
	}
	variableNames(c, contents, func(name string) { has = has || serverEnv[name] && launched.Passes(name) })
	return has
}

// memberFlags are flags that only a member has.
var memberFlags = []string{
	"advertise-client-urls", "config-file", "initial-advertise-peer-urls", "initial-cluster", "initial-cluster-state", "initial-cluster-token",
	"listen-client-urls", "listen-peer-urls", "wal-dir",
}

// startedIn returns what a container of a pod starts.
func startedIn(pod *corev1.Pod, c *corev1.Container, contents Contents) script.Invocation {
	around := surroundingsOf(pod, c, contents)
	return script.Start(shownArgs(c.Command, around), shownArgs(c.Args, around), around)
}

// shownArgs expands the references of arguments to variables with a value that is shown.
func shownArgs(argv []string, around script.Surroundings) []string {
	out := make([]string, len(argv))
	for i, word := range argv {
		value, err := expandReferences(word, around.Variable)
		if err != nil {
			value = word
		}
		out[i] = value
	}
	return out
}

// evidenceOfVariables judges a container by its variables. Several of a member show one if the pod
// doesn't show the program: the image decides, or a script in it. A backup has ETCD_NAME and ETCD_DATA_DIR,
// too, so one of them must be of a server. A script on a volume can be any, so it needs both of a member's
// listeners, which no other program has. One variable is a hint, and so are those of a container that runs
// something else.
func evidenceOfVariables(c *corev1.Container, started script.Invocation, contents Contents) Evidence {
	script := strings.HasSuffix(started.Program, ".sh")
	if contents != nil && started.Program != "" && !script {
		contents = withoutSecrets(contents) // the variables of another program are a hint at most
	}
	own, others, listeners, servers := 0, 0, 0, 0
	variableNames(c, contents, func(name string) {
		switch {
		case memberEnv[name]:
			own++
		case accompanyingEnv[name]:
			others++
		}
		if listenerEnv[name] {
			listeners++
		}
		if serverEnv[name] {
			servers++
		}
	})
	switch {
	case own == 0:
		return NoEvidence
	case own+others < 2, servers == 0, started.Program != "" && !script, isBesideEtcd(c.Image) && listeners < len(listenerEnv):
		return Hinted
	case script && listeners < len(listenerEnv) && mayBeMounted(c, started.Path):
		return Hinted
	}
	return Shown
}

// withoutSecrets reads no Secrets.
func withoutSecrets(contents Contents) Contents {
	return func(kind, name string) (map[string][]byte, error) {
		if kind == "Secret" {
			return nil, &UnreadError{Kind: kind, Name: name}
		}
		return contents(kind, name)
	}
}

// listenerEnv are the variables that have a program listen for other members and for clients.
var listenerEnv = map[string]bool{"ETCD_LISTEN_CLIENT_URLS": true, "ETCD_LISTEN_PEER_URLS": true}

// serverEnv are the variables that only a server has, of a member or of Bitnami's image.
var serverEnv = map[string]bool{
	"ETCD_CONFIG_FILE":                 true,
	"ETCD_LISTEN_CLIENT_URLS":          true,
	"ETCD_LISTEN_PEER_URLS":            true,
	"ETCD_INITIAL_ADVERTISE_PEER_URLS": true,
	"ETCD_ON_K8S":                      true,
	"ALLOW_NONE_AUTHENTICATION":        true,
}

// memberEnv are variables that only a member has. ETCD_ENDPOINTS and the like belong to clients.
var memberEnv = map[string]bool{
	"ETCD_LISTEN_CLIENT_URLS":          true,
	"ETCD_LISTEN_PEER_URLS":            true,
	"ETCD_ADVERTISE_CLIENT_URLS":       true,
	"ETCD_INITIAL_ADVERTISE_PEER_URLS": true,
	"ETCD_INITIAL_CLUSTER":             true,
	"ETCD_DATA_DIR":                    true,
}

// accompanyingEnv are variables that members have beside those, and others too.
var accompanyingEnv = map[string]bool{
	"ETCD_NAME":                  true,
	"ETCD_CONFIG_FILE":           true,
	"ETCD_INITIAL_CLUSTER_STATE": true,
	"ETCD_INITIAL_CLUSTER_TOKEN": true,
	"ETCD_ON_K8S":                true, // Bitnami's image
	"ALLOW_NONE_AUTHENTICATION":  true, // Bitnami's image
	"ETCD_AUTO_COMPACTION_MODE":  true,
	"ETCD_QUOTA_BACKEND_BYTES":   true,
	"ETCD_SNAPSHOT_COUNT":        true,
}
