// Package otlp runs the program against the receiver of OpenTelemetry's own collector: every span of
// what passes has to come there, once, or be counted by who could not bring it there.
//
// It is a module of its own, in a hidden folder, so that the product needs none of the collector.
package otlp
