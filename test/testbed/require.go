// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// tools are the programs of the host that nodes use, and the Debian package of
// each. Everything else is built from source.
var tools = []struct{ name, pkg, why string }{
	{"runc", "runc", "containerd runs containers with it"},
	{"nft", "nftables", "kube-proxy makes Services work with it"},
	{"mount", "mount", "kubelet mounts volumes with it"},
	{"modprobe", "kmod", "the kernel loads its modules with it"},
}

// modules are parts of the kernel that may have to be loaded first, and the
// file that reports whether that is done, or needless.
var modules = []struct{ name, file, entry string }{
	{"overlay", "/proc/filesystems", "overlay"},
}

// requireTools installs what is missing where apt is there, and otherwise reports what
// to install.
func requireTools(ctx context.Context, log io.Writer) error {
	if apt := findTool("apt-get"); apt != "" && len(missingTools()) > 0 {
		if err := installTools(ctx, log, apt); err != nil {
			return err
		}
	}
	missing := missingTools()
	if len(missing) == 0 {
		return loadModules(ctx)
	}
	var lines []string
	for _, t := range tools {
		if slices.Contains(missing, t.pkg) {
			lines = append(lines, fmt.Sprintf("  %s (%s): Debian's package %s has it", t.name, t.why, t.pkg))
		}
	}
	return fmt.Errorf("this host lacks programs that the testbed needs; install them with its package manager:\n%s", strings.Join(lines, "\n"))
}

// installTools installs what is missing once no one else does. Another program's apt is
// waited for by apt itself.
func installTools(ctx context.Context, log io.Writer, apt string) error {
	unlock, err := programs.Lock(ctx, programs.Packages)
	if err != nil {
		return err
	}
	defer unlock()
	missing := missingTools()
	if len(missing) == 0 {
		return nil
	}
	fmt.Fprintf(log, "installing Debian packages that are missing: %s\n", strings.Join(missing, " "))
	install := append([]string{"-o", "DPkg::Lock::Timeout=300", "install", "-y", "--no-install-recommends"}, missing...)
	for _, args := range [][]string{{"update"}, install} {
		cmd := exec.CommandContext(ctx, apt, args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
	}
	return nil
}

// missingTools returns the packages of the tools that aren't there.
func missingTools() []string {
	var missing []string
	for _, t := range tools {
		if findTool(t.name) == "" {
			missing = append(missing, t.pkg)
		}
	}
	return missing
}

// findTool searches the folders that machines search. A user's own PATH may lack some of them.
func findTool(name string) string {
	for _, dir := range []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

func loadModules(ctx context.Context) error {
	for _, m := range modules {
		data, err := os.ReadFile(m.file)
		if err != nil {
			return err
		}
		if slices.Contains(strings.Fields(string(data)), m.entry) {
			continue
		}
		if out, err := exec.CommandContext(ctx, findTool("modprobe"), m.name).CombinedOutput(); err != nil {
			return fmt.Errorf("this kernel has no %s, and it can't be loaded: %w\n%s", m.name, err, out)
		}
	}
	return nil
}
