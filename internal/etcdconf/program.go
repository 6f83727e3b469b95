// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
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
	for i := range pod.Spec.Containers {
		strongest = max(strongest, evidenceOf(pod, &pod.Spec.Containers[i], contents))
	}
	return strongest
}

func evidenceOf(pod *corev1.Pod, c *corev1.Container, contents Contents) Evidence {
	started := startedIn(pod, c, contents)
	switch {
	case started.program == "etcd":
		if started.script != nil && !started.script.surelyRunsEtcd() {
			return Hinted
		}
		return Shown
	case notMembers[started.program]:
		return NoEvidence
	}
	return evidenceOfVariables(pod, c, started, contents)
}

// startedIn returns what a container of a pod starts.
func startedIn(pod *corev1.Pod, c *corev1.Container, contents Contents) invocation {
	around := surroundingsOf(pod, c, contents)
	return startedBy(shownArgs(c.Command, around), shownArgs(c.Args, around), around)
}

// shownArgs expands the references of arguments to variables with a value that is shown.
func shownArgs(argv []string, around surroundings) []string {
	out := make([]string, len(argv))
	for i, word := range argv {
		value, err := expandReferences(word, around.variable)
		if err != nil {
			value = word
		}
		out[i] = value
	}
	return out
}

// evidenceOfVariables judges a container by its variables. Several of a member show one if the pod
// doesn't show the program: the image decides, or a script in it. A script from a ConfigMap or Secret
// can be any, such as a backup, so it needs both of a member's listeners, which no other program has.
// One variable is a hint, and so are those of a container that runs something else.
func evidenceOfVariables(pod *corev1.Pod, c *corev1.Container, started invocation, contents Contents) Evidence {
	script := strings.HasSuffix(started.program, ".sh")
	if contents != nil && started.program != "" && !script {
		contents = withoutSecrets(contents) // the variables of another program are a hint at most
	}
	own, others, listeners := 0, 0, 0
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
	})
	switch {
	case own == 0:
		return NoEvidence
	case own+others < 2, started.program != "" && !script:
		return Hinted
	case script && listeners < len(listenerEnv) && objectMount(pod, c, started.path) != nil:
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

// peerFlags are flags that only a member has. They show that the image's entry point, which is not in
// the pod, is etcd.
var peerFlags = []string{"--listen-peer-urls", "--initial-advertise-peer-urls", "--listen-client-urls"}

// invocation is how a container starts its program.
type invocation struct {
	// program is "etcd", "etcd gateway", "etcd grpc-proxy", another program's base name, or ""
	// where the image decides.
	program string
	// path is how the command names another program.
	path string
	// args are etcd's arguments, and env the assignments before it, without a shell.
	args, env []string
	// script is set where a shell starts the program. positional are its arguments.
	script     *script
	positional []string
	// file is the path of the script where it is a file.
	file string
}

// maxWord is the length of the longest argument that Linux passes to a program, on most machines.
// A script in a command that is longer is not read.
const maxWord = 128 << 10

func startedBy(command, args []string, around surroundings) invocation {
	argv := slices.Concat(command, args)
	if slices.ContainsFunc(argv, func(w string) bool { return len(w) > maxWord || strings.Contains(w, "\x00") }) {
		return invocation{program: "unreadable"}
	}
	at := programAt(argv)
	if at < 0 || at >= len(argv) {
		return invocation{}
	}
	env := argv[:at]
	argv = argv[at:]
	program := path.Base(argv[0])
	switch {
	case program == "etcd":
		return invocation{program: "etcd" + subcommand(argv[1:]), args: argv[1:], env: env}
	case shells[program]:
		return inShell(argv[1:], program, around)
	case len(command) == 0 && slices.ContainsFunc(argv, isPeerFlag):
		return invocation{program: "etcd", args: argv, env: env}
	case len(command) == 0 && strings.HasPrefix(argv[0], "-"):
		return invocation{args: argv}
	}
	if text, ok := around.read(argv[0], executed); ok && runsInShell(text) {
		return inScript(text, argv[0], argv, around)
	}
	return invocation{program: program, path: argv[0], args: argv[1:]}
}

var shells = map[string]bool{"sh": true, "bash": true, "ash": true, "dash": true, "busybox": true}

func isPeerFlag(word string) bool {
	flag, _, _ := strings.Cut(word, "=")
	return slices.Contains(peerFlags, flag)
}

// subcommand returns what etcd does instead of running a member, as the end of the program's name.
func subcommand(args []string) string {
	switch {
	case len(args) > 0 && (args[0] == "grpc-proxy" || args[0] == "gateway"):
		return " " + args[0]
	case informs(args):
		return " --version"
	}
	return ""
}

// informs reports whether etcd only prints its version or its flags.
func informs(args []string) bool {
	flags := parseFlags(args)
	return slices.ContainsFunc([]string{"version", "help", "h"}, func(name string) bool {
		value, set := flags[name]
		return set && value != "false"
	})
}

// inShell parses the script that follows a shell's options: a text behind -c, or the path of a file.
func inShell(argv []string, shell string, around surroundings) invocation {
	o := shellOptions(argv)
	switch {
	case o.operand >= len(argv):
		return invocation{program: shell}
	case o.command:
		return inScript(argv[o.operand], "", argv[o.operand+1:], around)
	}
	if text, ok := around.read(argv[o.operand], byShell); ok {
		return inScript(text, argv[o.operand], argv[o.operand:], around)
	}
	return invocation{program: shell}
}

// inScript parses a script, from a file or not. positional are its $0 and following.
func inScript(text, file string, positional []string, around surroundings) invocation {
	parsed := parseScript(text, around)
	if parsed.program == "" {
		return invocation{program: "sh"}
	}
	return invocation{program: parsed.program, script: &parsed, positional: positional, file: file}
}
