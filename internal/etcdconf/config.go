// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package etcdconf reads how a container's etcd is configured: its command, script,
// flags, environment and files. It knows Kubernetes' API types and no client: the caller
// passes a function that reads ConfigMaps and Secrets. Package script reads what shell scripts
// run, and package memberchange what they do to members.
package etcdconf

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// Config is the configuration of a pod's member, as etcd itself reads it.
type Config struct {
	// Container is the one that runs etcd.
	Container string
	// Name is the member's, which need not be the pod's.
	Name            string
	DataDir, WALDir string

	// URLs. A setting that isn't set has etcd's default, and no entry in Where.
	ListenClient, ListenPeer, AdvertiseClient, AdvertisePeer, ListenMetrics []string
	// ListenClientHTTP are the URLs for HTTP where gRPC has others; empty for the same.
	ListenClientHTTP []string

	InitialCluster, InitialClusterState, InitialClusterToken string

	ClientTLS, PeerTLS TLSFiles
	// Client are the files that the container gives to etcd's own clients
	// (ETCDCTL_CERT, ETCDCTL_KEY and ETCDCTL_CACERT, or druid's wrapper).
	Client TLSFiles

	// File is the path of etcd's configuration file, empty for none. All settings are from it then. FileOrigin is the
	// object that has it.
	File       string `json:",omitempty"`
	FileOrigin Origin `json:",omitzero"`

	// AutoCompactionRetention is what etcd keeps of old revisions, empty for all.
	AutoCompactionRetention string `json:",omitempty"`
	// QuotaBytes is the size that the database may have, 0 for etcd's default.
	QuotaBytes int64
	// ProgressNotifyInterval is how often etcd sends progress notifications to watches without events, empty for its default.
	ProgressNotifyInterval string `json:",omitempty"`
	// Launcher is the program that starts etcd, or "the image", if the container doesn't execute etcd itself. A setting
	// that it is not shown to get is in Unknown. Empty for none, and where the file has all settings.
	Launcher string `json:",omitempty"`
	// Where is the origin of each setting, by its flag's name without dashes: "flag", "env NAME"
	// or "config file PATH", the first two with " in script" where a shell script sets it.
	// Defaults are not in it.
	Where map[string]string
	// Unknown is why the value of a setting is not known, by its flag's name without dashes.
	Unknown map[string]string `json:",omitempty"`
}

// TLSFiles are paths in the container, empty where there are none.
type TLSFiles struct {
	Cert, Key, TrustedCA string
	// ClientCertAuth and Auto are client-cert-auth and auto-tls. Auto is false where etcd
	// ignores it because there is a certificate.
	ClientCertAuth, Auto bool
}

// DemandsClient reports whether etcd refuses clients without a certificate of the trusted authority.
// It also does so where only that authority is set.
func (f TLSFiles) DemandsClient() bool { return f.ClientCertAuth || f.TrustedCA != "" }

// ParsePod returns the configuration of a pod's etcd. It reads only those objects that the configuration refers to,
// and, without a list of members, the scripts that may restore one. It fails where an object that has a setting can't
// be read. A setting that the pod alone knows is in Unknown, and has the value that is shown, or etcd's default.
func ParsePod(pod *corev1.Pod, contents Contents) (Config, error) {
	out, env, err := parsePod(pod, contents)
	if err == nil {
		out.Client = clientFiles(env)
		err = env.err
	}
	if err != nil {
		return Config{}, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	if len(out.Unknown) == 0 {
		out.Unknown = nil
	}
	return out, nil
}

// parsePod returns the configuration of a pod's etcd without the files of its clients, and the
// environment that it was read from. Settings may be unknown.
func parsePod(pod *corev1.Pod, contents Contents) (Config, *environment, error) {
	contents = once(contents)
	member := MemberIn(pod, contents)
	if member.Err != nil {
		return Config{}, nil, member.Err
	}
	c := member.Container
	if c == nil {
		return Config{}, nil, errors.New("no container runs etcd")
	}
	env := newEnvironment(pod, c, contents)
	s, err := settingsOf(env, wrapper(c))
	if err != nil {
		return Config{}, nil, err
	}
	out := s.config()
	out.Container = c.Name
	if out.Where["initial-cluster"] == "" && out.Unknown["initial-cluster"] == "" {
		if why := restoredList(pod, contents); why != "" {
			out.Unknown["initial-cluster"] = why
		}
	}
	return out, env, nil
}

// etcd's defaults.
const (
	defaultName       = "default"
	defaultClientURL  = "http://localhost:2379"
	defaultPeerURL    = "http://localhost:2380"
	defaultToken      = "etcd-cluster"
	defaultState      = "new"
	defaultDataSuffix = ".etcd"
)

func (s *settings) config() Config {
	out := Config{Where: map[string]string{}, Unknown: map[string]string{}}
	text := func(flag, unset string) string {
		value, where, ok, err := s.get(flag)
		if ok && namesFile(flag) {
			err = cmp.Or(err, s.elsewhere(value))
		}
		if err != nil {
			out.Unknown[flag] = err.Error()
		}
		if !ok {
			return unset
		}
		out.Where[flag] = where
		return value
	}
	urls := func(flag, unset string) []string {
		return splitURLs(text(flag, unset))
	}
	files := func(peer string) TLSFiles {
		f := TLSFiles{
			Cert: text(peer+"cert-file", ""), Key: text(peer+"key-file", ""), TrustedCA: text(peer+"trusted-ca-file", ""),
			ClientCertAuth: isSet(text(peer+"client-cert-auth", "")),
		}
		f.Auto = isSet(text(peer+"auto-tls", "")) && f.Cert == ""
		return f
	}
	out.Name = text("name", defaultName)
	out.DataDir = text("data-dir", out.Name+defaultDataSuffix)
	out.WALDir = text("wal-dir", "")
	out.ListenClient = urls("listen-client-urls", defaultClientURL)
	out.ListenPeer = urls("listen-peer-urls", defaultPeerURL)
	out.AdvertiseClient = urls("advertise-client-urls", defaultClientURL)
	out.AdvertisePeer = urls("initial-advertise-peer-urls", defaultPeerURL)
	out.ListenMetrics = urls("listen-metrics-urls", "")
	out.ListenClientHTTP = urls("listen-client-http-urls", "")
	out.InitialCluster = text("initial-cluster", out.Name+"="+strings.Join(out.AdvertisePeer, ","+out.Name+"="))
	out.InitialClusterState = text("initial-cluster-state", defaultState)
	out.InitialClusterToken = text("initial-cluster-token", defaultToken)
	for _, flag := range append([]string{"auto-compaction-mode"}, discovery...) { // Where alone has them
		text(flag, "")
	}
	out.ClientTLS, out.PeerTLS = files(""), files("peer-")
	if out.File, out.FileOrigin = s.path, s.origin; s.path == "" {
		out.Launcher = s.launcher
	}
	out.AutoCompactionRetention = text("auto-compaction-retention", "")
	// etcd 3.6 reads both names, and the second one is the only one before.
	const notify = "watch-progress-notify-interval"
	out.ProgressNotifyInterval = cmp.Or(text(notify, ""), text("experimental-"+notify, ""))
	out.QuotaBytes, _ = strconv.ParseInt(text("quota-backend-bytes", "0"), 10, 64)
	return out
}

func isSet(value string) bool {
	on, _ := strconv.ParseBool(value)
	return on
}

// clientFiles returns the files that the container has for etcd's clients.
func clientFiles(env *environment) TLSFiles {
	flags := map[string]string{}
	if wrapper(env.container) {
		flags, _ = script.Flags(env.container.Args[1:])
	}
	file := func(flag, variable string) string {
		if value, ok := flags[flag]; ok {
			return value
		}
		value, _ := env.lookup(variable)
		return value
	}
	return TLSFiles{
		Cert:      file("etcd-client-cert-path", "ETCDCTL_CERT"),
		Key:       file("etcd-client-key-path", "ETCDCTL_KEY"),
		TrustedCA: file("etcd-client-ca-path", "ETCDCTL_CACERT"),
	}
}
