// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// RunsEtcd says whether a pod would run a member of etcd: one of its containers
// executes etcd, or is configured by etcd's own variables for listening and
// data. An image's name, a port or a label prove nothing: backup jobs, proxies
// and clients have them too.
func RunsEtcd(spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(spec.Containers, func(c corev1.Container) bool {
		switch what := executes(c.Command, c.Args); what {
		case "etcd":
			return true
		case "etcd grpc-proxy", "etcd gateway", "etcdctl", "etcdutl":
			return false
		default:
			return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return memberEnv[e.Name] })
		}
	})
}

// memberEnv are the variables that only a member has. ETCD_ENDPOINTS and the
// like belong to clients.
var memberEnv = map[string]bool{
	"ETCD_LISTEN_CLIENT_URLS": true,
	"ETCD_LISTEN_PEER_URLS":   true,
	"ETCD_DATA_DIR":           true,
}

// peerFlags are flags that only a member is given; they tell where the
// image's entry point, which the pod doesn't show, is etcd.
var peerFlags = []string{"--listen-peer-urls", "--initial-advertise-peer-urls", "--listen-client-urls"}

// executes names the program that a container starts: "etcd", "etcd gateway",
// "etcd grpc-proxy", another program's base name, or "" when the image decides.
func executes(command, args []string) string {
	words := slices.Concat(command, args)
	for len(words) > 0 && launchers[path.Base(words[0])] {
		words = words[1:]
		for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
	}
	if len(words) == 0 {
		return ""
	}
	program := path.Base(words[0])
	switch {
	case program == "etcd":
		return "etcd" + subcommand(words[1:])
	case shells[program]:
		return inScript(words[1:], program)
	case len(command) == 0 && slices.ContainsFunc(words, isPeerFlag):
		return "etcd"
	case len(command) == 0 && strings.HasPrefix(words[0], "-"):
		return ""
	}
	return program
}

var (
	launchers = map[string]bool{"tini": true, "dumb-init": true, "catatonit": true, "nice": true, "ionice": true, "exec": true, "env": true}
	shells    = map[string]bool{"sh": true, "bash": true, "ash": true, "dash": true, "busybox": true}
)

func isPeerFlag(word string) bool {
	flag, _, _ := strings.Cut(word, "=")
	return slices.Contains(peerFlags, flag)
}

func subcommand(words []string) string {
	if len(words) > 0 && (words[0] == "grpc-proxy" || words[0] == "gateway") {
		return " " + words[0]
	}
	return ""
}

// inShell finds etcd where a shell would take it for a command: at the start
// of a line, after an operator or a keyword, behind assignments of variables.
var inShell = regexp.MustCompile(`(?m)(?:^|[;&|({\x60]|\b(?:exec|then|do|else|time|nohup)\s)\s*` +
	`(?:[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|\$\([^)]*\)|[^\s;&|"'(]*)\s+)*` +
	`(?:[\w./-]*/)?(etcd)(?:\s+([\w-]+))?(?:[\s;&|)}\x60\\]|$)`)

// inScript looks through the text that follows a shell's -c.
func inScript(words []string, shell string) string {
	at := slices.IndexFunc(words, func(w string) bool {
		return strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "c")
	})
	if at < 0 || at+1 >= len(words) {
		return shell
	}
	found := shell
	for _, match := range inShell.FindAllStringSubmatch(words[at+1], -1) {
		found = match[1] + subcommand(match[2:])
		if found == "etcd" {
			break
		}
	}
	return found
}
