//! A headless Chromium, controlled by its DevTools protocol over a pipe.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Without a browser the test fails if this variable is set.
const NEED: &str = "SKRYMIR_NEED_BROWSER";

/// Maximum wait for a reply.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    next: u64,
    session: Option<String>,
    /// Errors reported by the pages.
    pub complaints: Vec<String>,
    /// Addresses that the pages asked for.
    pub requests: Vec<String>,
    loaded: bool,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// A browser with an empty page; `None`, with a message, if there is none.
    pub(crate) fn start() -> Option<Self> {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let Some(program) = names.iter().find_map(|name| which::which(name).ok()) else {
            assert!(std::env::var_os(NEED).is_none(), "no Chromium here, and {NEED} is set");
            println!("skipped: no Chromium here (Debian's package is `chromium`)");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        // The browser reads requests from descriptor 3 and writes replies to 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            .args([
                "--force-color-profile=srgb",
                "--hide-scrollbars",
                "--window-size=1400,1000",
            ])
            .args(["--remote-debugging-pipe", "--disable-background-networking"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let (to, out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (send, from) = channel();
        std::thread::spawn(move || {
            let mut out = BufReader::new(out);
            let mut message = Vec::new();
            while out.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else {
                    break;
                };
                if send.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let mut browser = Self {
            child,
            to,
            from,
            next: 0,
            session: None,
            complaints: Vec::new(),
            requests: Vec::new(),
            loaded: false,
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Accessibility", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        // Headless pages count as focused.
        browser.call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        Some(browser)
    }

    /// Calls a method and returns its result.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let mut message = json!({ "id": self.next, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        write!(self.to, "{message}\0")
            .and_then(|()| self.to.flush())
            .expect("the browser listens");
        loop {
            let answer = self.receive();
            if answer["id"] == self.next {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    fn receive(&mut self) -> Value {
        let message = self.from.recv_timeout(TIMEOUT).expect("the browser answers");
        let params = &message["params"];
        match message["method"].as_str() {
            Some("Page.loadEventFired") => self.loaded = true,
            Some("Runtime.exceptionThrown") => self.complaints.push(params["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled") => self.complaints.push(params["args"].to_string()),
            Some("Network.requestWillBeSent") => {
                let url = params["request"]["url"].as_str().unwrap_or_default();
                // A data address makes no request.
                self.requests.push(url.chars().take(80).collect());
            }
            Some("Log.entryAdded") => self.complaints.push(params["entry"].to_string()),
            _ => {}
        }
        message
    }

    /// Navigates to a page; returns the load time.
    pub(crate) fn go(&mut self, url: &str) -> Duration {
        // A fragment of the same page would not be loaded again.
        self.load("about:blank");
        self.load(url)
    }

    fn load(&mut self, url: &str) -> Duration {
        self.loaded = false;
        let start = Instant::now();
        self.call("Page.navigate", json!({ "url": url }));
        while !self.loaded {
            self.receive();
        }
        start.elapsed()
    }

    /// The value of an expression on the page.
    pub(crate) fn ask(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.call("Runtime.evaluate", params);
        assert!(
            result["exceptionDetails"].is_null(),
            "{expression}: {}",
            result["exceptionDetails"]
        );
        result["result"]["value"].clone()
    }

    /// What an expression comes to in the page's only frame, which has a process of its own; nothing where there is none.
    pub(crate) fn ask_frame(&mut self, expression: &str) -> Value {
        let page = self.session.take();
        let targets = self.call("Target.getTargets", json!({ "filter": [{}] }))["targetInfos"].clone();
        let mut targets = targets.as_array().into_iter().flatten();
        let frame = targets.find(|target| target["type"] == "iframe").cloned();
        let value = frame.map(|frame| {
            let attach = json!({ "targetId": frame["targetId"], "flatten": true });
            let attached = self.call("Target.attachToTarget", attach);
            self.session = attached["sessionId"].as_str().map(str::to_owned);
            self.ask(expression)
        });
        self.session = page;
        value.unwrap_or_default()
    }

    /// Waits until an expression is true on the page.
    pub(crate) fn wait(&mut self, expression: &str) {
        let start = Instant::now();
        while self.ask(expression) != true {
            assert!(start.elapsed() < TIMEOUT, "never true: {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Clicks at a position of the window.
    pub(crate) fn click(&mut self, x: f64, y: f64) {
        for kind in ["mousePressed", "mouseReleased"] {
            let params = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", params);
        }
    }

    /// Presses a key that inserts no text.
    pub(crate) fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let params = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", params);
        }
    }

    /// Presses Enter where the focus is, as a key that inserts a text: links follow only that.
    pub(crate) fn enter(&mut self) {
        for kind in ["keyDown", "keyUp"] {
            let mut params = json!({ "type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13 });
            if kind == "keyDown" {
                params["text"] = "\r".into();
            }
            self.call("Input.dispatchKeyEvent", params);
        }
    }

    /// Types a text where the focus is.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Makes the window's inside another size.
    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let params = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", params);
    }

    /// Drops a file at a place of the window.
    pub(crate) fn drop_file(&mut self, x: f64, y: f64, path: &std::path::Path) {
        let data = json!({ "items": [], "files": [path], "dragOperationsMask": 1 });
        for kind in ["dragEnter", "dragOver", "drop"] {
            self.call(
                "Input.dispatchDragEvent",
                json!({ "type": kind, "x": x, "y": y, "data": data }),
            );
        }
    }

    /// Saves the page's downloads in a folder.
    pub(crate) fn download_to(&mut self, folder: &std::path::Path) {
        let page = self.session.take();
        let params = json!({ "behavior": "allow", "downloadPath": folder });
        self.call("Browser.setDownloadBehavior", params);
        self.session = page;
    }

    /// A picture of a rectangle of the page: left, top, width, height.
    pub(crate) fn screenshot(&mut self, [x, y, width, height]: [f64; 4]) -> Vec<u8> {
        let clip = json!({ "x": x, "y": y, "width": width, "height": height, "scale": 1 });
        let params = json!({ "format": "png", "clip": clip, "captureBeyondViewport": true });
        let data = self.call("Page.captureScreenshot", params)["data"].clone();
        decode_base64(data.as_str().unwrap())
    }

    /// The visible nodes of the accessibility tree: role, name, and whether they are focusable.
    pub(crate) fn accessible(&mut self) -> Vec<(String, String, bool)> {
        let tree = self.call("Accessibility.getFullAXTree", json!({}));
        let nodes = tree["nodes"].as_array().unwrap().iter();
        let visible = nodes.filter(|node| node["ignored"] != true);
        let text = |value: &Value| value["value"].as_str().unwrap_or_default().to_owned();
        visible
            .map(|node| {
                let properties = node["properties"].as_array().into_iter().flatten();
                let mut focusable = properties.filter(|property| property["name"] == "focusable");
                let focusable = focusable.any(|property| property["value"]["value"] == true);
                (text(&node["role"]), text(&node["name"]), focusable)
            })
            .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Decodes base64, which DevTools uses.
fn decode_base64(text: &str) -> Vec<u8> {
    use base64::Engine;
    base64::prelude::BASE64_STANDARD.decode(text).expect("base64")
}
