// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package images

// Pause is the image of every pod's sandbox, and the name in containerd's
// configuration.
const Pause = "registry.k8s.io/pause:3.10.1"

// Webhook is the project's own image, made of the sources in this checkout.
const Webhook = "ghcr.io/kubectl-etcd/etcd-webhook:dev"

// Plugin is the image of the plugin, which the jobs of snapshot schedules run.
const Plugin = "ghcr.io/kubectl-etcd/kubectl-etcd:dev"

// Druid is etcd-druid, which the Deployment that runs it names.
const Druid = gardener + "gardener/etcd-druid:v0.37.0"

// CertManager has all of cert-manager's programs: which one runs is its argument.
const CertManager = "quay.io/jetstack/cert-manager-controller:v1.21.2"

// Alpine stands in for the image of that name: a shell and the usual tools.
// druid asks for it, and it serves everyone who needs a shell in a pod.
const Alpine = gardener + "3rd/alpine:3.21.3"

// Busybox stands in for the image of the helper pods of a restore, the default of --helper-image.
const Busybox = "busybox:1.37"

// gardener is the registry of druid and of what druid runs.
const gardener = "europe-docker.pkg.dev/gardener-project/public/"

// nonroot is the user that druid's programs run as by default.
const nonroot = "65532:65532"

// known is everything that this package can make. druid v0.37.0 asks for the
// first of the two tags of etcd-wrapper and etcdbrctl, and with its feature gate
// UpgradeEtcdVersion for the second; what runs is the same.
var known = []Image{
	{Name: Pause, programs: []installed{{"pause", "/pause"}}, entrypoint: []string{"/pause"}, user: "65535:65535"},
	etcd("v3.7.3", ""),
	etcd("v3.6.16", "-3.6"),
	etcd("v3.5.27", "-3.5"),
	etcd34("v3.4.13", "-3.4"),
	single(Druid, "etcd-druid"),
	single(gardener+"gardener/etcd-wrapper:v0.6.2", "etcd-wrapper"),
	single(gardener+"gardener/etcd-wrapper:v0.8.0", "etcd-wrapper"),
	single(gardener+"gardener/etcdbrctl:v0.41.2", "etcdbrctl"),
	single(gardener+"gardener/etcdbrctl:v0.43.0", "etcdbrctl"),
	{Name: Alpine, busybox: true, command: []string{"/bin/sh"}},
	{Name: Busybox, busybox: true, command: []string{"/bin/sh"}},
	single(Webhook, "etcd-webhook"),
	single(Plugin, "kubectl-etcd"),
	single(CertManager, "cert-manager"),
}

// Etcd returns the reference of etcd's own image of a release, such as v3.7.3.
func Etcd(version string) string { return "gcr.io/etcd-development/etcd:" + version }

// etcd is laid out as etcd's own image; suffix ends the names of the programs.
func etcd(version, suffix string) Image {
	const bin = "/usr/local/bin/"
	return Image{
		Name: Etcd(version),
		programs: []installed{
			{"etcd" + suffix, bin + "etcd"},
			{"etcdctl" + suffix, bin + "etcdctl"},
			{"etcdutl" + suffix, bin + "etcdutl"},
		},
		folders: []string{"/var/etcd", "/var/lib/etcd"},
		command: []string{bin + "etcd"},
	}
}

// etcd34 is etcd's image before there was etcdutl.
func etcd34(version, suffix string) Image {
	image := etcd(version, suffix)
	image.programs = image.programs[:2]
	return image
}

// single has one program, which its pods give arguments but no command.
func single(name, program string) Image {
	return Image{
		Name:       name,
		programs:   []installed{{program, "/" + program}},
		entrypoint: []string{"/" + program},
		user:       nonroot,
	}
}
