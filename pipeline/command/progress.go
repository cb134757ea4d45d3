package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"microrisk/schemas/advice"
)

// logEvery is how often a stage that takes long is heard of where there is no terminal.
const logEvery = 10 * time.Second

// A progress shows how far a run is: a bar on a terminal, log lines elsewhere.
type progress struct {
	console *console
	mu      sync.Mutex
	stage   string
	done    int64
	total   int64
	started time.Time
	logged  time.Time
	bar     *progressbar.ProgressBar
}

func newProgress(c *console) *progress { return &progress{console: c} }

// report is told of done of total units of a stage, from any goroutine.
func (p *progress) report(stage string, done, total int64) {
	if p.console.quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if stage != p.stage {
		p.end()
		p.begin(stage, total)
	}
	p.done, p.total = max(p.done, done), total
	if p.bar != nil {
		p.bar.ChangeMax64(max(total, 1))
		_ = p.bar.Set64(min(p.done, max(total, 1))) // drawing is no reason to fail
		return
	}
	if time.Since(p.logged) > logEvery {
		p.logged = time.Now()
		p.console.logger.Info(stage, "done", p.done, "total", total, "per_second", p.rate())
	}
}

func (p *progress) begin(stage string, total int64) {
	p.stage, p.done, p.started, p.logged = stage, 0, time.Now(), time.Now()
	if !p.console.Terminal {
		return
	}
	unit := "rows"
	if stage == "searching" {
		unit = "sets"
	}
	p.bar = progressbar.NewOptions64(max(total, 1),
		progressbar.OptionSetDescription(fmt.Sprintf("%-10s", stage)),
		progressbar.OptionSetWriter(p.console.Err),
		progressbar.OptionSetWidth(24),
		progressbar.OptionShowIts(),
		progressbar.OptionSetItsString(unit),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
}

// end closes the current stage.
func (p *progress) end() {
	if p.stage == "" {
		return
	}
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	} else if p.done >= p.total {
		p.console.logger.Info(p.stage+" done", "count", p.done, "seconds", seconds(time.Since(p.started)), "per_second", p.rate())
	}
	p.stage = ""
}

func (p *progress) rate() int64 {
	return int64(float64(p.done) / max(time.Since(p.started).Seconds(), 1e-3))
}

func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end()
}

func seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond)) / float64(time.Second)
}

// handler is where log lines go: plain ones on a terminal, structured ones elsewhere.
func (c *console) handler() slog.Handler { return &flagHandler{c.lines(), c} }

// A flagHandler words messages for who typed flags.
type flagHandler struct {
	slog.Handler
	console *console
}

// Handle is a slog.Handler's.
func (h *flagHandler) Handle(ctx context.Context, r slog.Record) error {
	if text, ok := advice.Logged(ctx); ok {
		r.Message = text.Worded(h.console.words())
	}
	return h.Handler.Handle(ctx, r)
}

func (c *console) lines() slog.Handler {
	level := slog.LevelInfo
	switch {
	case c.mute:
		level = slog.LevelError
	case c.quiet || c.Terminal && c.logs != "json":
		level = slog.LevelWarn
	}
	switch {
	case c.logs == "json":
		return slog.NewJSONHandler(c.Err, &slog.HandlerOptions{Level: level})
	case c.Terminal:
		return &plainHandler{w: c.Err, level: level, before: c.finish}
	}
	return slog.NewTextHandler(c.Err, &slog.HandlerOptions{Level: level})
}

// A plainHandler writes messages as a person reads them.
type plainHandler struct {
	mu     sync.Mutex
	w      io.Writer
	level  slog.Level
	before func() // takes away what is drawn on the terminal
}

func (h *plainHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

func (h *plainHandler) Handle(_ context.Context, r slog.Record) error {
	h.before()
	h.mu.Lock()
	defer h.mu.Unlock()
	kind := ""
	if r.Level == slog.LevelWarn {
		kind = "warning: "
	}
	line := fmt.Sprintf("microrisk: %s%s", kind, r.Message)
	r.Attrs(func(a slog.Attr) bool {
		line += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		return true
	})
	_, err := fmt.Fprintln(h.w, line)
	return err
}

func (h *plainHandler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h *plainHandler) WithGroup(string) slog.Handler      { return h }
