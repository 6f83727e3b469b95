// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import "strings"

// Flags parses arguments as etcd does: with one dash or two, and the value behind = or in the
// next argument. etcd stops at the first argument that is no flag: rest are the arguments from it on.
func Flags(argv []string) (flags map[string]string, rest []string) {
	flags = map[string]string{}
	for len(argv) > 0 {
		w := argv[0]
		name := strings.TrimPrefix(strings.TrimPrefix(w, "-"), "-")
		if name == w || name == "" {
			return flags, argv
		}
		argv = argv[1:]
		name, value, ok := strings.Cut(name, "=")
		switch {
		case ok:
		case boolFlags[name] || len(argv) == 0:
			value = "true"
		default:
			value, argv = argv[0], argv[1:]
		}
		flags[name] = value
	}
	return flags, nil
}

// boolFlags take no value from the next argument.
var boolFlags = map[string]bool{
	"auto-tls": true, "peer-auto-tls": true, "client-cert-auth": true, "peer-client-cert-auth": true,
	"strict-reconfig-check": true, "pre-vote": true, "force-new-cluster": true, "enable-v2": true,
	"enable-grpc-gateway": true, "enable-pprof": true, "debug": true, "version": true,
	"socket-reuse-port": true, "socket-reuse-address": true, "initial-election-tick-advance": true,
	"unsafe-no-fsync": true, "enable-log-rotation": true, "experimental-initial-corrupt-check": true,
	"experimental-enable-lease-checkpoint": true, "experimental-compact-hash-check-enabled": true,
	"experimental-memory-mlock": true, "experimental-txn-mode-write-with-shared-buffer": true,
	"experimental-stop-grpc-service-on-defrag": true, "experimental-enable-distributed-tracing": true,
	"experimental-enable-lease-checkpoint-persist": true, "experimental-peer-skip-client-san-verification": true,
	"next-cluster-version-compatible": true, "experimental-enable-v2v3": false, "peer-skip-client-san-verification": true,
	"enable-distributed-tracing": true, "memory-mlock": true, "stop-grpc-service-on-defrag": true,
}
