// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

// groups is everything that Ensure can build, in the order in which it builds.
var groups = []group{
	{
		name: "kubernetes", dir: "programs/kubernetes", module: "k8s.io/kubernetes", version: "v1.37.1",
		stamps: []string{
			// A kubelet or client without a version is refused or skewed.
			"k8s.io/component-base/version.gitVersion=v1.37.1",
			"k8s.io/component-base/version.gitMajor=1",
			"k8s.io/component-base/version.gitMinor=37",
			"k8s.io/client-go/pkg/version.gitVersion=v1.37.1",
		},
		programs: []program{
			{name: "kube-apiserver", pkg: "k8s.io/kubernetes/cmd/kube-apiserver"},
			{name: "kube-controller-manager", pkg: "k8s.io/kubernetes/cmd/kube-controller-manager"},
			{name: "kube-proxy", pkg: "k8s.io/kubernetes/cmd/kube-proxy"},
			{name: "kube-scheduler", pkg: "k8s.io/kubernetes/cmd/kube-scheduler"},
			{name: "kubectl", pkg: "k8s.io/kubernetes/cmd/kubectl"},
			{name: "kubelet", pkg: "k8s.io/kubernetes/cmd/kubelet"},
		},
	},
	{
		name: "containerd", dir: "programs/containerd", module: "github.com/containerd/containerd/v2", version: "v2.4.2",
		// Snapshotters that the testbed doesn't use; btrfs needs C headers.
		tags:   "no_btrfs,no_devmapper,no_zfs",
		stamps: []string{"github.com/containerd/containerd/v2/version.Version=v2.4.2"},
		programs: []program{
			{name: "containerd", pkg: "github.com/containerd/containerd/v2/cmd/containerd"},
			{name: "containerd-shim-runc-v2", pkg: "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2"},
			{name: "ctr", pkg: "github.com/containerd/containerd/v2/cmd/ctr"},
		},
	},
	{
		name: "cni", dir: "programs/cni", module: "github.com/containernetworking/plugins", version: "v1.9.1",
		stamps: []string{"github.com/containernetworking/plugins/pkg/utils/buildversion.BuildVersion=v1.9.1"},
		programs: []program{
			{name: "bridge", pkg: "github.com/containernetworking/plugins/plugins/main/bridge"},
			{name: "host-local", pkg: "github.com/containernetworking/plugins/plugins/ipam/host-local"},
			{name: "loopback", pkg: "github.com/containernetworking/plugins/plugins/main/loopback"},
			{name: "portmap", pkg: "github.com/containernetworking/plugins/plugins/meta/portmap"},
			{name: "ptp", pkg: "github.com/containernetworking/plugins/plugins/main/ptp"},
		},
	},
	{
		name: "coredns", dir: "programs/coredns", module: "github.com/coredns/coredns", version: "v1.15.0",
		programs: []program{{name: "coredns", pkg: "github.com/coredns/coredns"}},
	},
	etcd("etcd", "programs/etcd37", "v3.7.3", ""),
	etcd("etcd-3.6", "programs/etcd36", "v3.6.16", "-3.6"),
	etcd("etcd-3.5", "programs/etcd35", "v3.5.27", "-3.5"),
	{
		// v3.4.13 by its commit: the module proxy has no tag of 3.4 under this path.
		name: "etcd-3.4", dir: "programs/etcd34", module: "go.etcd.io/etcd", version: "v0.5.0-alpha.5.0.20200910180754-dd1b699fc489",
		programs: []program{
			{name: "etcd-3.4", pkg: "go.etcd.io/etcd", binary: "etcd"},
			{name: "etcdctl-3.4", pkg: "go.etcd.io/etcd/etcdctl", binary: "etcdctl"},
		},
	},
	{
		name: "etcd-druid", dir: "programs/druid", module: "github.com/gardener/etcd-druid", version: "v0.37.0",
		stamps:   []string{"github.com/gardener/etcd-druid/internal/version.gitVersion=v0.37.0"},
		programs: []program{{name: "etcd-druid", pkg: "github.com/gardener/etcd-druid/cmd"}},
	},
	{
		name: "etcd-backup-restore", dir: "programs/backuprestore",
		module: "github.com/gardener/etcd-backup-restore", version: "v0.43.0",
		stamps:   []string{"github.com/gardener/etcd-backup-restore/pkg/version.Version=v0.43.0"},
		programs: []program{{name: "etcdbrctl", pkg: "github.com/gardener/etcd-backup-restore"}},
	},
	{
		// Without the discovery of anybody's cloud, which rules don't need.
		name: "promtool", dir: "programs/promtool", module: "github.com/prometheus/prometheus", version: "v0.315.0", tags: "remove_all_sd",
		programs: []program{{name: "promtool", pkg: "github.com/prometheus/prometheus/cmd/promtool"}},
	},
	{
		name: "krew", dir: "programs/krew", module: "sigs.k8s.io/krew", version: "v0.5.0",
		programs: []program{
			{name: "krew", pkg: "sigs.k8s.io/krew/cmd/krew"},
			{name: "validate-krew-manifest", pkg: "sigs.k8s.io/krew/cmd/validate-krew-manifest"},
		},
	},
	// Below cert-manager's own path, since its webhook is an internal package.
	{
		name: "cert-manager", dir: "programs/certmanager",
		programs: []program{{name: "cert-manager", pkg: "github.com/cert-manager/cert-manager/cmd/testbed"}},
	},
	own("etcd-wrapper", "programs/wrapper", "/test/programs/wrapper"),
	own("testbed-machine", ".", "/test/cmd/testbed-machine"),
	own("pause", ".", "/test/programs/pause"),
	own("etcd-webhook", "..", "/cmd/etcd-webhook"),
	own("kubectl-etcd", "..", "/cmd/kubectl-etcd"),
}

// etcd returns the group of one etcd release; the programs' names end in suffix,
// the files carry etcd's own names.
func etcd(name, dir, version, suffix string) group {
	return group{
		name: name, dir: dir, module: "go.etcd.io/etcd/server/v3", version: version,
		programs: []program{
			{name: "etcd" + suffix, pkg: "go.etcd.io/etcd/server/v3", binary: "etcd"},
			{name: "etcdctl" + suffix, pkg: "go.etcd.io/etcd/etcdctl/v3", binary: "etcdctl"},
			{name: "etcdutl" + suffix, pkg: "go.etcd.io/etcd/etcdutl/v3", binary: "etcdutl"},
		},
	}
}

// own returns the group of one program of this project; pkg is below the project's path.
func own(name, dir, pkg string) group {
	return group{name: name, dir: dir, programs: []program{{name: name, pkg: "github.com/kubectl-etcd/kubectl-etcd" + pkg}}}
}
