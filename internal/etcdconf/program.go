// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// RunsEtcd reports whether a pod runs a member of etcd: one of its containers executes etcd, or has
// etcd's own variables for listening and data. The name of an image, a port or a label are no proof:
// backup jobs, proxies and clients have them too.
func RunsEtcd(spec *corev1.PodSpec) bool {
	for i := range spec.Containers {
		if runsEtcd(&spec.Containers[i]) {
			return true
		}
	}
	return false
}

func runsEtcd(c *corev1.Container) bool {
	switch startedBy(c.Command, c.Args).program {
	case "etcd":
		return true
	case "etcd grpc-proxy", "etcd gateway", "etcdctl", "etcdutl":
		return false
	}
	return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return memberEnv[e.Name] })
}

// memberEnv are the variables that only a member has. ETCD_ENDPOINTS and the
// like belong to clients.
var memberEnv = map[string]bool{
	"ETCD_LISTEN_CLIENT_URLS": true,
	"ETCD_LISTEN_PEER_URLS":   true,
	"ETCD_DATA_DIR":           true,
}

// peerFlags are flags that only a member has. They show that the image's entry point, which is not in
// the pod, is etcd.
var peerFlags = []string{"--listen-peer-urls", "--initial-advertise-peer-urls", "--listen-client-urls"}

// invocation is how a container starts its program.
type invocation struct {
	// program is "etcd", "etcd gateway", "etcd grpc-proxy", another program's base name, or ""
	// where the image decides.
	program string
	// args are etcd's arguments, and env the assignments before it, without a shell.
	args, env []string
	// script is set where a shell starts the program. positional are its arguments.
	script     *script
	positional []string
}

func startedBy(command, args []string) invocation {
	argv := slices.Concat(command, args)
	var env []string
	for len(argv) > 0 && launchers[path.Base(argv[0])] {
		argv = argv[1:]
		for len(argv) > 0 && (strings.HasPrefix(argv[0], "-") || strings.Contains(argv[0], "=")) {
			env = append(env, argv[0])
			argv = argv[1:]
		}
	}
	if len(argv) == 0 {
		return invocation{}
	}
	program := path.Base(argv[0])
	switch {
	case program == "etcd":
		return invocation{program: "etcd" + subcommand(argv[1:]), args: argv[1:], env: env}
	case shells[program]:
		return inScript(argv[1:], program)
	case len(command) == 0 && slices.ContainsFunc(argv, isPeerFlag):
		return invocation{program: "etcd", args: argv, env: env}
	case len(command) == 0 && strings.HasPrefix(argv[0], "-"):
		return invocation{args: argv}
	}
	return invocation{program: program, args: argv[1:]}
}

var (
	launchers = map[string]bool{"tini": true, "dumb-init": true, "catatonit": true, "nice": true, "ionice": true, "exec": true, "env": true}
	shells    = map[string]bool{"sh": true, "bash": true, "ash": true, "dash": true, "busybox": true}
)

func isPeerFlag(word string) bool {
	flag, _, _ := strings.Cut(word, "=")
	return slices.Contains(peerFlags, flag)
}

func subcommand(argv []string) string {
	if len(argv) > 0 && (argv[0] == "grpc-proxy" || argv[0] == "gateway") {
		return " " + argv[0]
	}
	return ""
}

// inScript parses the script that follows a shell's -c.
func inScript(argv []string, shell string) invocation {
	at := slices.IndexFunc(argv, func(w string) bool {
		return strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "c")
	})
	found := invocation{program: shell}
	for at++; at > 0 && at < len(argv) && argv[at] == "--"; at++ {
		continue // the end of the shell's own options
	}
	if at <= 0 || at >= len(argv) {
		return found
	}
	parsed := parseScript(argv[at])
	if parsed.program == "" {
		return found
	}
	return invocation{program: parsed.program, script: &parsed, positional: argv[at+1:]}
}
