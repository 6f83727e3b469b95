// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// credentialFlags are the flags with credentials for etcd, for clusters whose objects don't have
// them. Kubectl's own --certificate-authority, --client-certificate, --client-key and --user are
// for the API server.
type credentialFlags struct {
	caCert, cert, key string
	clientSecret      string
	user, userSecret  string
	serverName        string
	clientPort        uint16
	direct            bool
	mu                sync.Mutex
	// noted are the notes that were printed already.
	noted map[string]bool
}

func (c *credentialFlags) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&c.caCert, "cacert", "", "File with the certificate authorities of the members. The default is the one of their pods")
	flags.StringVar(&c.cert, "cert", "", "File with a client certificate for etcd")
	flags.StringVar(&c.key, "key", "", "File with the key of --cert")
	flags.StringVar(&c.clientSecret, "client-secret", "", "Secret [NAMESPACE/]NAME with ca.crt, tls.crt and tls.key for etcd")
	flags.StringVar(&c.user, "etcd-user", "", "User of etcd, as NAME or NAME:PASSWORD. Without PASSWORD, the plugin asks for it")
	flags.StringVar(&c.userSecret, "user-secret", "", "Secret [NAMESPACE/]NAME with username and password for etcd")
	flags.StringVar(&c.serverName, "server-name", "", "Name that the members' certificates must have. The default is the names of the pod")
	flags.Uint16Var(&c.clientPort, "client-port", 0, "Port on the localhost of the pods where members serve clients. The default is the one of their pods")
	flags.BoolVar(&c.direct, "direct", false, "Connect to members at the IPs of their pods, without a port-forward. This needs a route to the pods, for example from a pod of the cluster")
}

// Read returns the credentials of the flags. It reads the files, and asks for a missing password.
func (c *credentialFlags) Read(a *App) (access.Credentials, error) {
	given := access.Credentials{ClientSecret: c.clientSecret, User: c.user, UserSecret: c.userSecret, ServerName: c.serverName}
	given.ClientPort, given.Direct = int(c.clientPort), c.direct
	given.Note = func(text string) { c.note(a, text) }
	for _, f := range []struct {
		flag, path string
		into       *[]byte
	}{{"cacert", c.caCert, &given.CACert}, {"cert", c.cert, &given.Cert}, {"key", c.key, &given.Key}} {
		if f.path == "" {
			continue
		}
		text, err := os.ReadFile(f.path)
		if err != nil {
			return given, fmt.Errorf("--%s: %w", f.flag, err)
		}
		*f.into = text
	}
	if c.user != "" && !strings.Contains(c.user, ":") {
		password, err := a.password(c.user)
		if err != nil {
			return given, err
		}
		// Keep the password, so that a command for several clusters asks only once.
		c.user += ":" + password
		given.User = c.user
	}
	return given, nil
}

// note prints a note once. A command may find the members' endpoints several times, and those of
// several clusters at the same time.
func (c *credentialFlags) note(a *App, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noted[text] {
		return
	}
	if c.noted == nil {
		c.noted = map[string]bool{}
	}
	c.noted[text] = true
	a.Step("%s", text)
}

// ForJob returns the flags for a job in the cluster, and the Secrets that they name. It returns an error
// for what only this machine has.
func (c *credentialFlags) ForJob() (args, secrets []string, err error) {
	if c.caCert+c.cert+c.key+c.user != "" {
		return nil, nil, errors.New("a job in the cluster has no files or passwords of this machine: put them into Secrets, and use --client-secret and --user-secret")
	}
	for _, f := range []struct{ flag, value string }{{"client-secret", c.clientSecret}, {"user-secret", c.userSecret}} {
		if f.value == "" {
			continue
		}
		if strings.Contains(f.value, "/") {
			return nil, nil, fmt.Errorf("--%s %s: a job can only read Secrets of its own namespace: use the name without a namespace", f.flag, f.value)
		}
		args, secrets = append(args, "--"+f.flag+"="+f.value), append(secrets, f.value)
	}
	if c.serverName != "" {
		args = append(args, "--server-name="+c.serverName)
	}
	if c.clientPort != 0 {
		args = append(args, "--client-port="+strconv.Itoa(int(c.clientPort)))
	}
	return args, secrets, nil
}

// AsArgs returns the flags for a command that is printed, each after a space. It omits a
// password, for which that command asks.
func (c *credentialFlags) AsArgs() string {
	user, _, _ := strings.Cut(c.user, ":")
	port := ""
	if c.clientPort != 0 {
		port = strconv.Itoa(int(c.clientPort))
	}
	var flags strings.Builder
	for _, f := range []struct{ flag, value string }{
		{"cacert", c.caCert}, {"cert", c.cert}, {"key", c.key}, {"client-secret", c.clientSecret},
		{"etcd-user", user}, {"user-secret", c.userSecret}, {"server-name", c.serverName}, {"client-port", port},
	} {
		if f.value != "" {
			fmt.Fprintf(&flags, " --%s %s", f.flag, format.Quote(f.value))
		}
	}
	if c.direct {
		flags.WriteString(" --direct")
	}
	return flags.String()
}

func (a *App) password(user string) (string, error) {
	fd, ok := ui.Terminal(a.In)
	if !ok {
		return "", fmt.Errorf("--etcd-user %s: there is no terminal to ask for the password; use --user-secret", user)
	}
	a.Prompt("Password of etcd user %s: ", user)
	password, err := term.ReadPassword(fd)
	fmt.Fprintln(a.ErrOut)
	return string(password), err
}
