// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/scripttest"
	"github.com/kubectl-etcd/kubectl-etcd/krew"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// TestKrew does with krew itself what its users do. There is no cluster: the plugin's
// own version needs none. What krew's index asks of those who submit a plugin is asked of
// a whole release, by TestSameBytes.
func TestKrew(t *testing.T) {
	t.Parallel()
	bin := userPrograms(t)
	old, next := publishTwo(t)
	t.Run("as the README has it", func(t *testing.T) { followReadme(t, bin, old) })
	t.Run("by hand from an archive", func(t *testing.T) {
		k := newUser(t, bin)
		printed := k.run(t, "kubectl", "krew", "install", "--manifest", old.Manifest, "--archive", archive(old))
		if !strings.Contains(printed, "kubectl etcd completion install") {
			t.Errorf("no word on completion in:\n%s", printed)
		}
		k.wantVersion(t, old)
		if texts := k.run(t, "kubectl", "plugin", "list"); !strings.Contains(texts, k.root+"/bin/kubectl-etcd") || strings.Contains(texts, "warning") {
			t.Errorf("kubectl plugin list prints:\n%s", texts)
		}
		// The caveat's way to completion, followed.
		k.run(t, "kubectl", "etcd", "completion", "install")
		if texts := k.run(t, "kubectl", "__complete", "etcd", "vers"); !strings.Contains(texts, "\nversion\t") {
			t.Errorf("kubectl completes %q", texts)
		}
		k.wantGone(t)
	})
	t.Run("beside another plugin of its name", func(t *testing.T) { besideNamesake(t, bin, old) })
	t.Run("from an index, upgraded and removed", func(t *testing.T) {
		k := newUser(t, bin)
		index := k.emptyIndex(t, "ours")
		k.publish(t, index, old)
		k.run(t, "kubectl", "krew", "index", "add", "ours", index)
		k.run(t, "kubectl", "krew", "install", "ours/"+krew.Name)
		k.wantVersion(t, old)
		k.publish(t, index, next)
		k.run(t, "kubectl", "krew", "upgrade", krew.Name)
		k.wantVersion(t, next)
		k.wantGone(t)
	})
}

// krewHint matches the hint about krew in the output of make release-snapshot.
var krewHint = regexp.MustCompile(`(?m)^To try the plugin by krew: (.+)$`)

// typePrinted types what make release-snapshot printed, as a user with krew.
func typePrinted(t *testing.T, bin, printed string, r *Released) {
	t.Helper()
	command := krewHint.FindStringSubmatch(printed)
	if command == nil {
		t.Fatalf("no command for krew in:\n%s", printed)
	}
	k := newUser(t, bin)
	k.run(t, "sh", "-c", command[1])
	k.wantVersion(t, r)
	k.wantGone(t)
}

// validateManifest does with a release's manifest what krew's index does with every one
// that is submitted: it installs the archive of each platform. Only the address to download
// from isn't the one that is named, as nothing is published yet.
func validateManifest(t *testing.T, bin string, r *Released) {
	t.Helper()
	text, err := os.ReadFile(r.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(r.Manifest))))
	t.Cleanup(server.Close)
	address := "https://" + module + "/releases/download/" + r.Version
	if n := strings.Count(string(text), address+"/"); n != len(AllPlugins()) {
		t.Fatalf("%d archives are at %s", n, address)
	}
	manifest := filepath.Join(t.TempDir(), filepath.Base(r.Manifest))
	if err := os.WriteFile(manifest, []byte(strings.ReplaceAll(string(text), address, server.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	printed := newUser(t, bin).run(t, "validate-krew-manifest", "-manifest", manifest)
	if !strings.Contains(printed, "all 6 spec.platforms installed fine") || strings.Contains(printed, "exceeds") {
		t.Errorf("it printed:\n%s", printed)
	}
}

// userPrograms is a folder with kubectl and krew.
func userPrograms(t *testing.T) string {
	t.Helper()
	paths, err := programs.Ensure(t.Context(), programs.Cache{}, []string{"kubectl", "krew", "validate-krew-manifest"}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for name, path := range map[string]string{
		"kubectl": paths["kubectl"], "kubectl-krew": paths["krew"], "validate-krew-manifest": paths["validate-krew-manifest"],
	} {
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// publishTwo makes two versions of the plugin, at the addresses in their manifests.
func publishTwo(t *testing.T) (old, next *Released) {
	t.Helper()
	released := t.TempDir()
	server := httptest.NewServer(http.FileServer(http.Dir(released)))
	t.Cleanup(server.Close)
	source := clone(t)
	return publish(t, source, released, server.URL, "v0.1.0"), publish(t, source, released, server.URL, "v0.2.0")
}

// user is a user with krew and an index in which nothing matters here.
type user struct {
	home string
	root string // KREW_ROOT
	env  []string
}

func newUser(t *testing.T, bin string) *user {
	t.Helper()
	home := t.TempDir()
	k := &user{home: home, root: filepath.Join(home, "krew")}
	k.env = []string{
		"HOME=" + home, "KREW_ROOT=" + k.root, "KREW_NO_UPGRADE_CHECK=1", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.org", "GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.org",
		"PATH=" + filepath.Join(k.root, "bin") + ":" + bin + ":" + scripttest.PathWithout("kubectl-etcd"),
	}
	k.env = append(k.env, "KREW_DEFAULT_INDEX_URI="+k.emptyIndex(t, "default"))
	k.run(t, "kubectl", "krew", "update")
	return k
}

// publish makes a version of the plugin that is found at an address. For the other
// platforms a file stands in for the program: krew runs none.
func publish(t *testing.T, source, dir, address, version string) *Released {
	t.Helper()
	o := Options{Source: source, Out: filepath.Join(dir, version), Version: version, Download: address + "/" + version, Progress: t.Output()}
	built, err := o.compile(t.Context(), filepath.Join(dir, "programs", version), pluginProgram, host)
	if err != nil {
		t.Fatal(err)
	}
	standIn := filepath.Join(dir, "stand-in")
	if err := os.WriteFile(standIn, []byte("not for this machine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var plugins []program
	for _, platform := range AllPlugins() {
		p := built[0]
		if platform != p.platform {
			p.platform, p.path = platform, standIn
		}
		plugins = append(plugins, p)
	}
	if err := os.Mkdir(o.Out, 0o755); err != nil {
		t.Fatal(err)
	}
	made, err := o.assemble(plugins, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// run returns the output of a command of the user.
func (k *user) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := k.try(t.Context(), name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return out
}

func (k *user) try(ctx context.Context, name string, args ...string) (string, error) {
	// The shell searches name in the user's PATH, not in ours.
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", `"$@"`, "sh", name}, args...)...)
	cmd.Env, cmd.Dir = k.env, k.home
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// archive is the archive for this machine.
func archive(r *Released) string {
	for _, a := range r.Archives {
		if a.OS == host[0].OS && a.Arch == host[0].Arch {
			return filepath.Join(filepath.Dir(r.Manifest), filepath.Base(a.URI))
		}
	}
	return ""
}

// emptyIndex makes an index of krew's, a git repository.
func (k *user) emptyIndex(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(k.home, "indexes", name)
	if err := os.MkdirAll(filepath.Join(dir, "plugins"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plugins", ".keep"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k.run(t, "git", "init", "--quiet", dir)
	k.commit(t, dir, "nothing yet")
	return dir
}

func (k *user) commit(t *testing.T, index, message string) {
	t.Helper()
	k.run(t, "git", "-C", index, "add", ".")
	k.run(t, "git", "-C", index, "commit", "--quiet", "-m", message)
}

// publish commits a version's manifest to an index.
func (k *user) publish(t *testing.T, index string, r *Released) {
	t.Helper()
	text, err := os.ReadFile(r.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(index, "plugins", krew.Name+".yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	k.commit(t, index, r.Version)
}

// wantVersion runs the plugin by kubectl.
func (k *user) wantVersion(t *testing.T, r *Released) {
	t.Helper()
	var printed struct {
		Client struct{ Version, Commit, CommitDate string }
	}
	text := k.run(t, "kubectl", "etcd", "version", "--client", "-o", "json")
	if err := json.Unmarshal([]byte(text), &printed); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	if printed.Client.Version != r.Version || len(printed.Client.Commit) != 40 || printed.Client.CommitDate == "" {
		t.Errorf("the version of kubectl etcd is %+v, want version %s with its commit", printed.Client, r.Version)
	}
}

// wantGone removes the plugin, and it is.
func (k *user) wantGone(t *testing.T) {
	t.Helper()
	k.run(t, "kubectl", "krew", "uninstall", krew.Name)
	if out, err := k.try(t.Context(), "kubectl", "etcd", "version", "--client"); err == nil {
		t.Errorf("the plugin is still there:\n%s", out)
	}
	left, err := filepath.Glob(filepath.Join(k.root, "store", krew.Name, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("krew left %q: %v", left, err)
	}
}
