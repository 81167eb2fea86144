;;; player.el --- Plays a scenario with Emacs' dap-mode  -*- lexical-binding: t -*-

;; Use: emacs --batch --load player.el SCENARIO.json; what the file holds is said in tests/support/editors.py.
;; Commands of the user are called as the user would; what dap-mode shows is read from where dap-mode keeps it.

(require 'json)
(unless (require 'dap-mode nil t)
  (error "dap-mode is not installed; Debian: apt-get install elpa-dap-mode"))

(defvar dap-exception-breakpoints nil)  ; dap-ui has it, which has no place in batch.
(defvar play-patience 30 "Seconds for whatever is awaited.")
(defvar play-transcript nil "The file that takes all messages.")
(defvar play-thread nil "The thread that was looked at last.")
(defvar play-shown nil "What dap-mode showed last of an evaluated expression.")
(defvar play-errors nil "What dap-mode told the user as an error, newest first.")

(setq make-backup-files nil
      create-lockfiles nil
      dap-auto-show-output nil)

(defun play-record (from json)
  "Add the message JSON, sent by FROM, to the transcript."
  (let ((coding-system-for-write 'utf-8))
    (write-region (format "{\"from\": \"%s\", \"message\": %s}\n" from json) nil play-transcript t 'silent)))

(advice-add 'dap--make-message :filter-return
            (lambda (text)
              (play-record "client" (cadr (split-string text "\r\n\r\n")))
              text))
(advice-add 'dap--read-json :before (lambda (text) (play-record "adapter" text)))
(advice-add 'dap-overlays--display-interactive-eval-result :override
            (lambda (value &rest _) (setq play-shown value)))
(advice-add 'lsp--error :before
            (lambda (text &rest rest) (push (apply #'format text rest) play-errors)))

(defun play-wait (what predicate)
  "Wait until PREDICATE returns something, which is returned; WHAT says what is missing otherwise."
  (let ((deadline (+ (float-time) play-patience))
        found)
    (while (not (setq found (funcall predicate)))
      (when (> (float-time) deadline)
        (error "%s did not come" what))
      (accept-process-output nil 0.05))
    found))

(defun play-session ()
  (dap--cur-session))

(defun play-stopped ()
  "The threads that dap-mode holds for stopped."
  (let (stopped)
    (maphash (lambda (thread state)
               (unless (member state '("started" "running" "exited"))
                 (push thread stopped)))
             (dap--debug-session-thread-states (play-session)))
    stopped))

(defun play-frames ()
  (gethash play-thread (dap--debug-session-thread-stack-frames (play-session))))

(defun play-select (thread)
  "Choose THREAD as the user does, by `dap-switch-thread'."
  (cl-letf (((symbol-function 'dap--completing-read)
             (lambda (_prompt threads &rest _)
               (--first (eql (gethash "id" it) thread) threads))))
    (dap-switch-thread)
    (play-wait "the chosen thread"
               (lambda () (eql (dap--debug-session-thread-id (play-session)) thread)))))

(defun play-look (step)
  "Wait until dap-mode shows a frame, and compare it with STEP."
  (setq play-thread (dap--debug-session-thread-id (play-session)))
  (let ((frame (play-wait "the frame"
                          (lambda ()
                            (let ((active (dap--debug-session-active-frame (play-session))))
                              (and active (eq active (car (play-frames))) active))))))
    (let ((names (--map (gethash "name" it) (play-frames)))
          (stack (append (plist-get step :stack) nil)))
      (play-equal stack (-take (length stack) names)))
    (with-current-buffer (window-buffer (selected-window))
      (when (plist-get step :path)
        (play-equal (plist-get step :path) buffer-file-name))
      (when (plist-get step :line)
        (play-equal (plist-get step :line) (line-number-at-pos))
        (play-equal (plist-get step :line) (gethash "line" frame))))))

(defun play-equal (expected found)
  (unless (equal expected found)
    (error "Expected %S, found %S" expected found)))

(defun play-toggle (path line)
  (with-current-buffer (find-file-noselect path)
    (goto-char (point-min))
    (forward-line (1- line))
    (dap-breakpoint-toggle)))

;; The steps.

(defun play-configure (step)
  "Start the session of STEP, with its breakpoints and exception filters."
  (cl-loop for (path lines) on (plist-get step :breakpoints) by #'cddr
           do (seq-do (lambda (line) (play-toggle (substring (symbol-name path) 1) line)) lines))
  (setq dap-exception-breakpoints
        (list (cons "raydap" (--map (cons it t) (append (plist-get step :filters) nil)))))
  (dap-register-debug-provider "raydap" #'identity)
  (dap-debug (append (list :type "raydap" :request (plist-get step :request) :name "Ray")
                     play-endpoint
                     (copy-sequence (plist-get step :arguments)))))

(defvar play-endpoint nil "Where the bridge is, as dap-mode wants it in a configuration.")

(defun play-start (step)
  (play-configure step)
  (play-running))

(defun play-running ()
  (play-wait "the session" (lambda () (not (eq (dap--debug-session-state (play-session)) 'pending)))))

(defun play-lisp (step)
  "Evaluate code that starts a session, or defines the template from which the user starts it."
  (with-temp-buffer
    (insert (plist-get step :code))
    (eval-buffer))
  (when (plist-get step :template)
    (dap-debug (copy-tree (cdr (assoc (plist-get step :template) dap-debug-template-configurations)))))
  (play-running))

(defun play-refused (step)
  (let (refused)
    (add-hook 'dap-terminated-hook (lambda (session) (setq refused (dap--debug-session-error-message session))))
    (play-configure step)
    (play-wait "the refusal" (lambda () refused))
    (unless (string-search (plist-get step :says) refused)
      (error "It says: %s" refused))))

(defun play-stop (step)
  ;; dap-mode shows a stop by itself only if no other is being looked at when it comes.
  (let ((before play-thread)
        (same (plist-get step :same)))
    (play-wait "a stop" (lambda ()
                          (or (dap--debug-session-thread-id (play-session))
                              (and (not same) (-some-> (car (play-stopped)) play-select)))))
    (play-look step)
    (when same
      (play-equal before play-thread))
    (when (plist-get step :reason)
      (play-equal (plist-get step :reason)
                  (gethash play-thread (dap--debug-session-thread-states (play-session)))))))

(defun play-switch (step)
  (play-select (play-wait "another stop" (lambda () (--first (not (eql it play-thread)) (play-stopped)))))
  (play-look step))

(defalias 'play-back #'play-switch)  ; With two threads they are the same.

(defun play-locals (step)
  ;; As the view of locals asks (dap-ui-locals).
  (let* ((frame (gethash "id" (dap--debug-session-active-frame (play-session))))
         (scopes (gethash "scopes" (dap-request (play-session) "scopes" :frameId frame)))
         (reference (gethash "variablesReference" (car scopes)))
         (variables (gethash "variables" (dap-request (play-session) "variables" :variablesReference reference))))
    (cl-loop for (name value) on (plist-get step :values) by #'cddr
             do (let ((variable (--first (equal (gethash "name" it) (substring (symbol-name name) 1)) variables)))
                  (play-equal value (and variable (gethash "value" variable)))))))

(defun play-ask (expression)
  (setq play-shown nil)
  (dap-eval expression)
  (substring-no-properties (play-wait "the value" (lambda () play-shown))))

(defun play-evaluate (step)
  (play-equal (plist-get step :result) (play-ask (plist-get step :expression))))

(defun play-next (_) (dap-next (play-session)))
(defun play-stepIn (_) (dap-step-in (play-session)))
(defun play-stepOut (_) (dap-step-out (play-session)))
(defun play-continue (_) (call-interactively #'dap-continue))

(defun play-walk (step)
  (let (found)
    (dotimes (_ (plist-get step :stops))
      (play-stop nil)
      (push (play-ask (plist-get step :expression)) found)
      (play-continue nil))
    (play-equal (append (plist-get step :results) nil) (sort found #'string<))))

(defun play-verified (step)
  (play-wait "the breakpoint"
             (lambda ()
               (--first (and (gethash "verified" it) (equal (gethash "line" it) (plist-get step :line)))
                        (gethash (plist-get step :path) (dap--debug-session-breakpoints (play-session)))))))

(defun play-exception (step)
  (let ((text (format "Exception has occurred: %s\n%s" (plist-get step :name) (plist-get step :description))))
    (play-wait text (lambda () (member text play-errors)))))

(defun play-output (step)
  (play-wait (plist-get step :text)
             (lambda ()
               (with-current-buffer (dap--debug-session-output-buffer (play-session))
                 (string-search (plist-get step :text) (buffer-string))))))

(defun play-ended ()
  (play-wait "the end" (lambda () (not (dap--session-running (play-session))))))

(defun play-exited (_) (play-ended))

(defun play-disconnect (_)
  (call-interactively #'dap-disconnect)
  (play-ended))

(defun play (file)
  "Play the scenario in FILE."
  (let* ((json-object-type 'plist)
         (json-array-type 'vector)
         (json-false nil)
         (scenario (json-read-file file))
         (port (plist-get scenario :port)))
    (setq play-transcript (plist-get scenario :transcript)
          play-endpoint (if port
                            (list :host "127.0.0.1" :port port :debugServer port)
                          (list :dap-server-path (append (plist-get scenario :command) nil))))
    (mapc (lambda (step)
            (condition-case error
                (if (equal (plist-get step :do) "toggle")
                    (play-toggle (plist-get step :path) (plist-get step :line))
                  (funcall (intern (concat "play-" (plist-get step :do))) step))
              (error (message "%s failed: %s" (json-encode step) (error-message-string error))
                     (when (get-buffer "*Ray stderr*")
                       (message "%s" (with-current-buffer "*Ray stderr*" (buffer-string))))
                     (kill-emacs 1))))
          (plist-get scenario :steps))))

(provide 'player)
;;; player.el ends here
