// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

// named is an object that supports -o name. The names have the form TYPE/NAME, which the plugin
// and kubectl accept as an argument.
type named interface{ Names() []string }

// The output formats, without and with a template.
var (
	plainFormats    = []string{"table", "wide", "json", "yaml", "name"}
	templateFormats = []string{"jsonpath", "jsonpath-as-json", "jsonpath-file", "go-template", "go-template-file"}
)

// outputFormat is the value of -o: a plain format, or FORMAT=TEMPLATE.
type outputFormat string

// String implements pflag.Value.
func (f *outputFormat) String() string { return string(*f) }

// Set implements pflag.Value.
func (f *outputFormat) Set(text string) error {
	kind, template, has := strings.Cut(text, "=")
	switch {
	case slices.Contains(plainFormats, text):
	case slices.Contains(templateFormats, kind) && has && template != "":
	case slices.Contains(templateFormats, kind):
		return fmt.Errorf("%s needs a template, as in %s=TEMPLATE", kind, kind)
	default:
		return fmt.Errorf("must be one of %s, or with =TEMPLATE one of %s", strings.Join(plainFormats, ", "), strings.Join(templateFormats, ", "))
	}
	*f = outputFormat(text)
	return nil
}

// Type implements pflag.Value.
func (f *outputFormat) Type() string { return "format" }

// AddOutputFlags adds -o to a command. The command prints with Console.Print.
func AddOutputFlags(cmd *cobra.Command) {
	format := outputFormat("table")
	cmd.Flags().VarP(&format, "output", "o", "Output format: "+strings.Join(plainFormats, ", ")+", "+strings.Join(templateFormats, "=..., ")+"=...")
	formats := cobra.FixedCompletions(plainFormats, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc("output", formats); err != nil {
		panic(err) // the flag was added above
	}
}

// FormatOf returns the value of -o, or "table" for a command without it.
func FormatOf(cmd *cobra.Command) string {
	if f := cmd.Flag("output"); f != nil {
		return f.Value.String()
	}
	return "table"
}

// ForPeople reports whether a command prints for people.
func ForPeople(cmd *cobra.Command) bool { return FormatOf(cmd) == "table" || FormatOf(cmd) == "wide" }

// Separator returns what stands between two objects that a command prints, one after the other.
func Separator(cmd *cobra.Command) string {
	switch format := FormatOf(cmd); {
	case ForPeople(cmd), format == "yaml":
		return "---\n"
	case format == "json", format == "name":
		return ""
	}
	return "\n" // the output of a template has none
}

// Print writes an object of api/output to stdout in the format of -o. table writes it for
// people, with more columns if wide.
func (c *Console) Print(cmd *cobra.Command, obj runtime.Object, table func(w io.Writer, wide bool) error) error {
	err := c.write(cmd, obj, table)
	if errors.Is(err, syscall.EPIPE) {
		// Only a command with IgnoreBrokenPipe gets here. Its work is done.
		return nil
	}
	return err
}

func (c *Console) write(cmd *cobra.Command, obj runtime.Object, table func(w io.Writer, wide bool) error) error {
	format := FormatOf(cmd)
	switch format {
	case "table", "wide":
		return table(c.Out, format == "wide")
	case "name":
		if n, ok := obj.(named); ok {
			// As in kubectl, names and templates are data for programs, so they are printed as they are.
			for _, name := range n.Names() {
				fmt.Fprintln(c.Out, name)
			}
			return nil
		}
		return fmt.Errorf("%s has nothing to print with -o name", cmp.Or(cmd.CommandPath(), "this command"))
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	flags := genericclioptions.NewPrintFlags("").WithTypeSetter(scheme).WithDefaultOutput(format)
	printer, err := flags.ToPrinter()
	if err != nil {
		return err
	}
	// As in kubectl, jsonpath does not end the output with a newline.
	return templateError(format, printer.PrintObj(obj, c.Out))
}

var outOfBounds = regexp.MustCompile(`array index out of bounds: index (\d+), length (\d+)`)

// templateError shortens an error of the jsonpath printer, which repeats the template and
// contains the whole object as a Go value.
func templateError(format string, err error) error {
	if err == nil || !strings.HasPrefix(err.Error(), "error executing jsonpath ") {
		return err
	}
	text, _, _ := strings.Cut(err.Error(), " Printing more information")
	if _, cause, ok := strings.Cut(text, "Error executing template: "); ok {
		text = strings.TrimSuffix(cause, ".")
	}
	if m := outOfBounds.FindStringSubmatch(text); m != nil {
		text = fmt.Sprintf("index %s is out of range: the list has %s items", m[1], m[2])
	}
	return fmt.Errorf("-o %s: %s", format, text)
}
