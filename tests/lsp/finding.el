;;; finding.el --- What a user of eglot sees  -*- lexical-binding: t -*-

;; Waits for the server's findings of a file, applies the first fix, and prints what the user would see.

(require 'eglot)
(require 'flymake)

(load (getenv "PAGE"))

(defun wait-for (what condition)
  "Wait until CONDITION returns something, and return that; fail with WHAT after a minute."
  (let ((deadline (+ (float-time) 60)) result)
    (while (not (setq result (funcall condition)))
      (when (> (float-time) deadline)
        (error "Waited in vain for %s: %S" what (flymake-diagnostics)))
      (accept-process-output nil 0.05))
    result))

(let ((eglot-sync-connect 60)
      (eglot-autoshutdown nil))
  (find-file (getenv "FILE"))
  ;; `eglot-ensure' of the page connects after the next command, and a batch has none.
  (run-hooks 'post-command-hook)
  (wait-for "the server" #'eglot-current-server)
  (flymake-start)
  (let* ((found (car (wait-for "findings" #'flymake-diagnostics)))
         (begin (flymake-diagnostic-beg found))
         (end (flymake-diagnostic-end found)))
    (princ (format "finding %d %s\n" (line-number-at-pos begin) (flymake-diagnostic-text found)))
    (let ((action (car (append (eglot-code-actions begin end) nil))))
      (princ (format "fix %s\n" (plist-get action :title)))
      (eglot--apply-workspace-edit (plist-get action :edit)))
    (goto-char (point-min))
    (search-forward "def train")
    (forward-line 1)
    (princ (format "line %s\n" (buffer-substring (line-beginning-position) (line-end-position))))
    (set-buffer-modified-p nil)
    (eglot-shutdown (eglot-current-server))))
