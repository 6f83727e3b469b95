// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// copyAttempts is how often CopyFile copies a file that arrives incomplete.
const copyAttempts = 5

// CopyFile copies a file of this machine into a pod. kubectl exec can lose the end of a
// stream without an error, so each copy is compared.
type CopyFile struct{ From, Pod, To string }

// Command implements Action.
func (p CopyFile) Command(f Flags) string {
	return fmt.Sprintf("for attempt in 1 2 3 4 5; do\n  %s < %s &&\n    %s && break\ndone",
		f.kubectl("exec -i %s -- %s", p.Pod, quoted(p.write())), format.Quote(p.From), CompareFile(p).test(f))
}

func (p CopyFile) write() []string {
	return []string{"sh", "-c", fmt.Sprintf("mkdir -p -m 700 %s && cat > %s", format.Quote(path.Dir(p.To)), format.Quote(p.To))}
}

// Do implements Action.
func (p CopyFile) Do(ctx context.Context, c Clients) error {
	var err error
	for range copyAttempts {
		if err = p.try(ctx, c); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func (p CopyFile) try(ctx context.Context, c Clients) error {
	file, err := os.Open(p.From)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := c.exec(ctx, p.Pod, p.write(), file, io.Discard); err != nil {
		return err
	}
	return CompareFile(p).Do(ctx, c)
}

// CompareFile compares a file of this machine with its copy in a pod.
type CompareFile CopyFile

// Command implements Action.
func (p CompareFile) Command(f Flags) string {
	return p.test(f) + ` && echo "the same" || { echo "NOT the same, copy it again"; false; }`
}

func (p CompareFile) test(f Flags) string {
	return fmt.Sprintf(`[ "$(sha256sum < %s)" = "$(%s)" ]`, format.Quote(p.From), Exec{Pod: p.Pod, Args: p.remote()}.Command(f))
}

func (p CompareFile) remote() []string {
	return []string{"sh", "-c", "sha256sum < " + format.Quote(p.To)}
}

// Do implements Action.
func (p CompareFile) Do(ctx context.Context, c Clients) error {
	here, err := fileSum(p.From)
	if err != nil {
		return err
	}
	var out strings.Builder
	if err := c.exec(ctx, p.Pod, p.remote(), nil, &out); err != nil {
		return err
	}
	if there, _, _ := strings.Cut(out.String(), " "); there != here {
		return fmt.Errorf("%s of pod %s is not the same as %s: copy it again", p.To, p.Pod, p.From)
	}
	return nil
}

// AppendHash makes a snapshot of a database: a copy with the SHA-256 at its end.
type AppendHash struct{ Database, Snapshot string }

// Command implements Action.
func (a AppendHash) Command(Flags) string {
	return fmt.Sprintf("{ cat %[1]s; openssl dgst -sha256 -binary %[1]s; } > %[2]s", format.Quote(a.Database), a.Snapshot)
}

// Do implements Action.
func (a AppendHash) Do(context.Context, Clients) (err error) {
	from, err := os.Open(a.Database)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Create(a.Snapshot)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(to, sum), from); err != nil {
		return fmt.Errorf("copy %s: %w", a.Database, err)
	}
	_, err = to.Write(sum.Sum(nil))
	return err
}
