//! Requests to S3 servers, and the choice of the server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use icefloe_engine::runtime::block_on;
use icefloe_engine::store::FileIo;

/// A server, and the first line of each request that it got.
struct Server {
    address: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// A server that answers each method with a status.
    fn start(status: fn(&str) -> u16) -> Self {
        Self::pausing(status, Duration::ZERO)
    }

    /// A server that waits this long before it reads the body of a request.
    fn pausing(status: fn(&str) -> u16, pause: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let requests = Arc::clone(&seen);
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                answer(&connection.unwrap(), status, pause, &requests);
            }
        });
        Self { address, seen }
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn answer(
    connection: &TcpStream,
    status: fn(&str) -> u16,
    pause: Duration,
    seen: &Mutex<Vec<String>>,
) {
    let mut reader = BufReader::new(connection);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() == 0 {
            return;
        }
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_ascii_lowercase());
    }
    let length = lines.iter().find_map(|line| line.strip_prefix("content-length:"));
    let length = length.map_or(0, |length| length.trim().parse().unwrap());
    std::thread::sleep(pause);
    reader.read_exact(&mut vec![0; length]).unwrap();
    let method = lines[0].split(' ').next().unwrap().to_owned();
    seen.lock().unwrap().push(lines[0].clone());
    let code = status(&method);
    let head = format!(
        "HTTP/1.1 {code} So\r\nETag: \"1\"\r\nLast-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\n\
         Content-Length: 0\r\nConnection: close\r\n\r\n"
    );
    let mut connection = connection;
    connection.write_all(head.as_bytes()).unwrap();
}

fn io(properties: &[(&str, &str)]) -> FileIo {
    FileIo::new(properties.iter().map(|(name, value)| ((*name).into(), (*value).into())))
}

#[test]
fn objects_of_unknown_existence_are_not_overwritten() {
    let server = Server::start(|method| if method == "head" { 403 } else { 200 });
    let io = io(&[
        ("s3.endpoint", &server.address),
        ("s3.anonymous", "true"),
        ("s3.conditional-writes", "false"),
    ]);
    let written = block_on(io.write("s3://bucket/key", Bytes::from_static(b"new"), false));
    assert!(written.is_err());
    assert!(server.seen().iter().all(|request| request.starts_with("head")), "{:?}", server.seen());
}

/// Bytes that take longer than one second of the timeout to send to a server that reads slowly.
const UPLOAD_BYTES: usize = 16 << 20;

fn impatient(address: &str) -> FileIo {
    io(&[
        ("s3.endpoint", address),
        ("s3.anonymous", "true"),
        ("s3.request-timeout", "1"),
        ("s3.retry.num-retries", "0"),
    ])
}

#[test]
fn request_timeout_does_not_count_the_sending_of_a_body() {
    let server = Server::pausing(|_| 200, Duration::from_secs(2));
    let io = impatient(&server.address);
    block_on(io.write("s3://bucket/key", Bytes::from(vec![7; UPLOAD_BYTES]), true)).unwrap();
    assert_eq!(server.seen(), ["put /bucket/key http/1.1"]);
}

#[test]
fn request_timeout_bounds_the_wait_for_a_reply() {
    let server = Server::pausing(|_| 200, Duration::from_secs(3600));
    let io = impatient(&server.address);
    let started = Instant::now();
    let sent = block_on(io.write("s3://bucket/key", Bytes::from_static(b"few"), true));
    let error = sent.unwrap_err().to_string();
    assert!(error.contains("the server sent nothing for 1.0 seconds"), "{error}");
    assert!(started.elapsed() >= Duration::from_secs(1));
}

const ENDPOINT: &str = "ICEFLOE_TEST_ENDPOINT";

/// The part of other tests that they run in a process with another environment.
#[test]
fn size_is_requested_in_a_process_of_its_own() {
    let Ok(endpoint) = std::env::var(ENDPOINT) else { return };
    let io = io(&[("s3.endpoint", &endpoint), ("s3.region", "here")]);
    block_on(io.size("s3://bucket/key")).unwrap();
}

fn request_size(endpoint: &str, environment: &[(&str, &str)]) {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    command
        .args(["--exact", "s3_requests::size_is_requested_in_a_process_of_its_own"])
        .env(ENDPOINT, endpoint);
    command.env("AWS_ACCESS_KEY_ID", "an-id").env("AWS_SECRET_ACCESS_KEY", "a-secret");
    for name in ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT", "AWS_ALLOW_HTTP"] {
        command.env_remove(name);
    }
    let outcome = command.envs(environment.iter().copied()).output().unwrap();
    assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stdout));
}

#[test]
fn property_selects_the_server() {
    let (ours, other) = (Server::start(|_| 200), Server::start(|_| 200));
    request_size(&ours.address, &[("AWS_ENDPOINT_URL_S3", &other.address)]);
    assert_eq!(other.seen(), Vec::<String>::new());
    assert_eq!(ours.seen(), ["head /bucket/key http/1.1"]);
}

#[test]
fn server_from_the_environment_has_path_style_requests() {
    for name in ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"] {
        let server = Server::start(|_| 200);
        request_size("", &[(name, &server.address), ("AWS_ALLOW_HTTP", "true")]);
        assert_eq!(server.seen(), ["head /bucket/key http/1.1"]);
    }
}
