// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"text/template"

	"golang.org/x/sys/unix"

	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/pki"
)

//go:embed config
var configs embed.FS

// fileData is what the files in config/ can ask for.
type fileData struct {
	Node
	Dir, Home, PKI          string
	StaticPods              string
	DNS, Registry           string
	PauseImage, Snapshotter string
}

func (l layout) fileData(machine string, n Node) fileData {
	return fileData{
		Node: n, Dir: l.Dir, Home: l.home(machine), PKI: l.pki(), StaticPods: l.staticPods(machine),
		DNS: l.controlAddress(), Registry: l.registry(), PauseImage: images.Pause, Snapshotter: snapshotter(l.Dir),
	}
}

// snapshotter is overlayfs where it works: not on top of another overlay, as
// the root of a container is.
func snapshotter(dir string) string {
	var stat unix.Statfs_t
	if unix.Statfs(dir, &stat) == nil && stat.Type == unix.OVERLAYFS_SUPER_MAGIC {
		return "native"
	}
	return "overlayfs"
}

// write renders a file of config/ to a path below the machine's home.
func (d fileData) write(name, path string) error {
	t, err := template.ParseFS(configs, "config/"+name)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, d); err != nil {
		return fmt.Errorf("render %s: %w", name, err)
	}
	path = filepath.Join(d.Home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

func (l layout) writeFiles() error {
	control := l.fileData(controlPlane, Node{})
	errs := []error{control.write("Corefile", "Corefile"), control.write("objects.yaml", "objects.yaml"), control.write("audit.yaml", "audit.yaml")}
	for _, n := range l.Nodes {
		d := l.fileData(n.Name, n)
		errs = append(errs,
			d.write("containerd.toml", "containerd.toml"),
			d.write("hosts.toml", "registries/_default/hosts.toml"),
			d.write("network.conflist", "net.d/10-pods.conflist"),
			d.write("kubelet.yaml", "kubelet.yaml"),
			d.write("resolv.conf", "resolv.conf"),
			os.MkdirAll(d.StaticPods, 0o755),
			l.nodeSpec(n).Save())
	}
	return errors.Join(append(errs, l.controlPlaneSpec().Save())...)
}

// writeCredentials makes every certificate and kubeconfig of the cluster.
func (l layout) writeCredentials() error {
	ca, err := pki.NewAuthority(l.pki(), "ca")
	if err != nil {
		return err
	}
	frontProxy, err := pki.NewAuthority(l.pki(), "front-proxy")
	if err != nil {
		return err
	}
	errs := []error{
		pki.NewKeyPair(l.pki(), "service-account"),
		frontProxy.Issue("front-proxy-client", pki.Subject{Name: "front-proxy-client"}),
		ca.Issue("kubelet-client", pki.Subject{Name: "kube-apiserver", Groups: []string{"system:masters"}}),
		ca.Issue("kube-apiserver", pki.Subject{
			Name: "kube-apiserver",
			DNS: []string{"kubernetes", "kubernetes.default", "kubernetes.default.svc",
				"kubernetes.default.svc.cluster.local", "localhost", controlPlane},
			IPs: []net.IP{net.ParseIP(l.controlAddress()), net.ParseIP(serviceIP), net.IPv4(127, 0, 0, 1)},
		}),
	}
	for file, s := range map[string]pki.Subject{
		"admin":                   {Name: "kubernetes-admin", Groups: []string{"system:masters"}},
		"kube-controller-manager": {Name: "system:kube-controller-manager"},
		"kube-scheduler":          {Name: "system:kube-scheduler"},
		"kube-proxy":              {Name: "system:kube-proxy"},
		"coredns":                 {Name: "coredns"},
		"provisioner":             {Name: "provisioner"},
	} {
		errs = append(errs, l.writeClient(ca, file, s))
	}
	for _, n := range l.Nodes {
		errs = append(errs, l.writeClient(ca, "kubelet-"+n.Name, pki.Subject{
			Name: "system:node:" + n.Name, Groups: []string{"system:nodes"},
			DNS: []string{n.Name}, IPs: []net.IP{net.ParseIP(n.Address)},
		}))
	}
	errs = append(errs, os.Rename(l.pkiFile("admin.kubeconfig"), l.kubeconfig()))
	return errors.Join(errs...)
}

func (l layout) writeClient(ca *pki.Authority, file string, s pki.Subject) error {
	if err := ca.Issue(file, s); err != nil {
		return err
	}
	return ca.WriteKubeconfig(l.pkiFile(file+".kubeconfig"), l.Name, l.server(), file)
}

// link makes a program available in a directory. It is a hard link where that
// is possible, so that the testbed goes on when the cache is cleaned.
func link(from, dir, name string) error {
	to := filepath.Join(dir, name)
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if os.Link(from, to) == nil {
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}
