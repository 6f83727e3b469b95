// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// CopyDir copies what is in a directory of this machine into a directory of a pod.
type CopyDir struct {
	From string
	// What is a file or directory in From, "." for all of it.
	What    string
	Pod, To string
	// Sums is a file in the pod to which CompareDir writes the sums of the copy, empty for none. Unchanged reads it.
	Sums string
}

// Command implements Action.
func (d CopyDir) Command(f Flags) string {
	return fmt.Sprintf("tar -C %s -cf - %s | %s tar -C %s -xof -", d.From, d.What, f.kubectl("exec -i %s --", d.Pod), format.Quote(d.To))
}

// Do implements Action.
func (d CopyDir) Do(ctx context.Context, c Clients) error {
	in, out := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := d.pack(out)
		packed <- err
		_ = out.CloseWithError(err) // it never fails
	}()
	err := c.exec(ctx, d.Pod, []string{"tar", "-C", d.To, "-xof", "-"}, in, io.Discard)
	_ = in.CloseWithError(errEnded) // it never fails
	if cause := <-packed; cause != nil && !errors.Is(cause, errEnded) {
		return cause
	}
	return err
}

// errEnded stops the archive for a command that reads no more.
var errEnded = errors.New("the command in the pod has ended")

// pack writes the files as a tar archive.
func (d CopyDir) pack(w io.Writer) error {
	archive := tar.NewWriter(w)
	if err := archive.AddFS(part{os.DirFS(d.From), d.What}); err != nil {
		return fmt.Errorf("pack %s: %w", filepath.Join(d.From, d.What), err)
	}
	return archive.Close()
}

// part is what a file system has at or below one path.
type part struct {
	fs.FS

	path string
}

// ReadDir implements fs.ReadDirFS.
func (p part) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(p.FS, name)
	if name == "." && p.path != "." {
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() != p.path })
	}
	return entries, err
}

func (d CopyDir) ofPod(name string) CopyDir {
	d.From, d.Pod = withPod(d.From, name), withPod(d.Pod, name)
	return d
}

func (d CopyDir) forPod(name string) Action { return d.ofPod(name) }

// CompareDir compares all files that CopyDir has copied, byte for byte.
type CompareDir CopyDir

// Command implements Action.
func (d CompareDir) Command(f Flags) string {
	return strings.Join([]string{
		fmt.Sprintf("here=$(cd %s && %s)", d.From, d.sums()),
		fmt.Sprintf("there=$(%s)", Exec{Pod: d.Pod, Args: d.remote()}.Command(f)),
		`[ "$here" = "$there" ] && echo "$pod: the same" || { echo "$pod: NOT the same, copy it again"; false; }`,
	}, "\n")
}

func (d CompareDir) sums() string { return "find " + d.What + " -type f -exec sha256sum {} + | sort" }

func (d CompareDir) remote() []string {
	script := "cd " + format.Quote(d.To) + " && " + d.sums()
	if d.Sums != "" {
		script += fmt.Sprintf(" > %[1]s && cat %[1]s", format.Quote(d.Sums))
	}
	return []string{"sh", "-c", script}
}

// WriteSums returns the shell command that writes the sums of a copy again, whose parent directory is dir by now.
func (d CompareDir) WriteSums(dir string) string {
	return fmt.Sprintf("cd %s && %s > %s", format.Quote(dir), d.sums(), format.Quote(d.Sums))
}

// Unchanged returns the shell condition that a copy, whose parent directory is dir by now, has the files that were
// compared, and no other ones. It compares their bytes: the clocks of nodes and of this machine may differ.
func (d CompareDir) Unchanged(dir string) string {
	return fmt.Sprintf(`test -s %[1]s && test "$(cd %[2]s && %[3]s)" = "$(cat %[1]s)"`, format.Quote(d.Sums), format.Quote(dir), d.sums())
}

// Do implements Action.
func (d CompareDir) Do(ctx context.Context, c Clients) error {
	here, err := d.local()
	if err != nil {
		return err
	}
	var out strings.Builder
	if err := c.exec(ctx, d.Pod, d.remote(), nil, &out); err != nil {
		return err
	}
	there := strings.Split(strings.TrimSpace(out.String()), "\n")
	slices.Sort(there)
	if !slices.Equal(here, there) {
		return fmt.Errorf("%s of pod %s is not the same as %s: copy it again", d.To, d.Pod, d.From)
	}
	return nil
}

// local returns the sums of the local files as sha256sum prints them, sorted.
func (d CompareDir) local() ([]string, error) {
	var sums []string
	err := fs.WalkDir(os.DirFS(d.From), d.What, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		sum, err := fileSum(filepath.Join(d.From, name))
		if d.What == "." {
			name = "./" + name
		}
		sums = append(sums, sum+"  "+name)
		return err
	})
	slices.Sort(sums)
	return sums, err
}

func (d CompareDir) forPod(name string) Action { return CompareDir(CopyDir(d).ofPod(name)) }

// fileSum returns the SHA-256 of a file, in hexadecimal.
func fileSum(name string) (string, error) {
	file, err := os.Open(name) //nolint:gosec // a plan names the files that it made
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
