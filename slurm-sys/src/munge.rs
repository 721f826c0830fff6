//! Credentials of munge, by which one host knows which user of another one asks.
//!
//! libmunge is loaded when it is first needed, as libslurm is, and its functions are declared as in
//! `src/libmunge/munge.h` of munge 0.5.10 to 0.5.16: programs need neither its headers to be built
//! nor the library to start.
//!
//! Every call may block: libmunge tries for seconds to reach a munged that does not answer
//! (`src/libmunge/m_msg_client.c`). A program that has something else to do makes them on a thread
//! of their own.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::OnceLock;

use job_types::number::UserId;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use thiserror::Error;

/// The library, whose interface has had this number since munge 0.5.
const FILE_NAME: &str = "libmunge.so.2";

/// `MUNGE_OPT_SOCKET`.
const OPTION_SOCKET: c_int = 8;

/// `EMUNGE_SNAFU`, an internal error.
const INTERNAL: c_int = 1;
/// `EMUNGE_NO_MEMORY`.
const NO_MEMORY: c_int = 5;
/// `EMUNGE_SOCKET`, no connection to munged.
const SOCKET: c_int = 6;
/// `EMUNGE_TIMEOUT`.
const TIMEOUT: c_int = 7;
/// `EMUNGE_CRED_EXPIRED`.
const EXPIRED: c_int = 15;
/// `EMUNGE_CRED_REWOUND`, made in what is the future here.
const REWOUND: c_int = 16;
/// `EMUNGE_CRED_REPLAYED`, decoded on this host before.
const REPLAYED: c_int = 17;

/// Why there is no credential, or nothing in it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MungeError {
    /// libmunge is not there.
    #[error("libmunge cannot be loaded: {message}; install munge")]
    Library {
        /// The dynamic linker's own error message.
        message: String,
    },
    /// munged does not answer.
    #[error("munged does not answer: {reason}")]
    Away {
        /// munge's own words for it.
        reason: String,
    },
    /// The credential was decoded on this host before.
    #[error("the credential has been used before")]
    Replayed,
    /// The credential is older than it may be, or from the future.
    #[error("{reason}: the clocks of the two hosts differ, or it was sent late")]
    OutOfTime {
        /// munge's own words for it.
        reason: String,
    },
    /// munge refuses for another reason.
    #[error("{reason}")]
    Refused {
        /// munge's own words for it.
        reason: String,
    },
}

/// What munge says of a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The user who has made it.
    pub user: UserId,
    /// What is in it.
    pub payload: Vec<u8>,
}

/// A munged of this host.
#[derive(Debug, Clone)]
pub struct Munge {
    socket: Option<CString>,
}

impl Munge {
    /// The munged that listens at this path; without one, at the usual place.
    ///
    /// # Errors
    /// [`MungeError::Library`] where libmunge is not there, [`MungeError::Refused`] where the path
    /// holds a null byte.
    pub fn new(socket: Option<&Path>) -> Result<Self, MungeError> {
        library()?;
        let refused = |_| MungeError::Refused { reason: "the path of munged's socket holds a null byte".to_owned() };
        let socket = socket.map(|path| CString::new(path.as_os_str().as_bytes())).transpose().map_err(refused)?;
        Ok(Self { socket })
    }

    /// A credential of the caller, with this in it.
    ///
    /// # Errors
    /// munged does not answer, or refuses.
    pub fn encode(&self, payload: &[u8]) -> Result<String, MungeError> {
        let context = self.context()?;
        let length = c_int::try_from(payload.len()).map_err(|_| MungeError::Refused { reason: "too much for a credential".to_owned() })?;
        let mut credential = null_mut();
        // SAFETY: a context that lives until it is dropped; the payload is read for its length;
        // `credential` takes a pointer, which is null where there is no credential.
        let code = unsafe { (context.functions.encode)(&raw mut credential, context.context, payload.as_ptr().cast(), length) };
        let credential = Allocated(credential.cast());
        context.check(code)?;
        // SAFETY: of success the credential is a text with a null byte at its end, which lives
        // until it is dropped.
        Ok(unsafe { CStr::from_ptr(credential.0.cast()) }.to_string_lossy().into_owned())
    }

    /// Who has made a credential, and what is in it. It is used then: munged, of this host, refuses
    /// it from now on.
    ///
    /// # Errors
    /// munged does not answer, or refuses the credential.
    pub fn decode(&self, credential: &str) -> Result<Decoded, MungeError> {
        let context = self.context()?;
        let credential =
            CString::new(credential).map_err(|_| MungeError::Refused { reason: "the credential holds a null byte".to_owned() })?;
        let (mut payload, mut length, mut user) = (null_mut(), 0, 0);
        // SAFETY: a context and a text that live until they are dropped; the pointers are written
        // to before the call returns, and the one for the group may be null.
        let code = unsafe {
            (context.functions.decode)(credential.as_ptr(), context.context, &raw mut payload, &raw mut length, &raw mut user, null_mut())
        };
        let payload = Allocated(payload);
        context.check(code)?;
        let length = usize::try_from(length).unwrap_or_default();
        let bytes = if payload.0.is_null() {
            Vec::new()
        } else {
            // SAFETY: of success the payload is as long as munge says, and lives until it is
            // dropped.
            unsafe { std::slice::from_raw_parts(payload.0.cast::<u8>(), length) }.to_vec()
        };
        Ok(Decoded { user: UserId(user), payload: bytes })
    }

    /// A context for one call: contexts may not be shared between threads.
    fn context(&self) -> Result<Context, MungeError> {
        let library = library()?;
        // SAFETY: makes a context.
        let context = Context { functions: library, context: unsafe { (library.context_create)() } };
        if context.context.is_null() {
            return Err(MungeError::Away { reason: "no memory".to_owned() });
        }
        if let Some(socket) = &self.socket {
            // SAFETY: the option takes a text, which is copied.
            let code = unsafe { (library.context_set)(context.context, OPTION_SOCKET, socket.as_ptr()) };
            context.check(code)?;
        }
        Ok(context)
    }
}

/// What libmunge has allocated, which the caller frees.
struct Allocated(*mut c_void);

impl Drop for Allocated {
    fn drop(&mut self) {
        // SAFETY: a null pointer, or what libmunge has allocated by malloc and does not use any
        // more.
        unsafe { libc::free(self.0) }
    }
}

/// `munge_ctx_t`.
struct Context {
    functions: &'static Functions,
    context: *mut c_void,
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: a null pointer, or a context that nobody else has.
        unsafe { (self.functions.context_destroy)(self.context) }
    }
}

impl Context {
    /// What a code of libmunge says.
    fn check(&self, code: c_int) -> Result<(), MungeError> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the text belongs to the context, or is a constant, or null.
        let words = unsafe {
            let of_context = (self.functions.context_error)(self.context);
            if of_context.is_null() { (self.functions.error)(code) } else { of_context }
        };
        let reason = if words.is_null() {
            format!("munge's error {code}")
        } else {
            // SAFETY: a text with a null byte at its end, which is copied.
            unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned()
        };
        Err(match code {
            INTERNAL | NO_MEMORY | SOCKET | TIMEOUT => MungeError::Away { reason },
            REPLAYED => MungeError::Replayed,
            EXPIRED | REWOUND => MungeError::OutOfTime { reason },
            _ => MungeError::Refused { reason },
        })
    }
}

/// What is taken from libmunge.
struct Functions {
    encode: unsafe extern "C" fn(*mut *mut c_char, *mut c_void, *const c_void, c_int) -> c_int,
    decode: unsafe extern "C" fn(*const c_char, *mut c_void, *mut *mut c_void, *mut c_int, *mut libc::uid_t, *mut libc::gid_t) -> c_int,
    error: unsafe extern "C" fn(c_int) -> *const c_char,
    context_create: unsafe extern "C" fn() -> *mut c_void,
    context_destroy: unsafe extern "C" fn(*mut c_void),
    context_error: unsafe extern "C" fn(*mut c_void) -> *const c_char,
    context_set: unsafe extern "C" fn(*mut c_void, c_int, ...) -> c_int,
    /// The functions are there for as long as the library is loaded.
    _library: Library,
}

/// The library of this process, loaded once.
fn library() -> Result<&'static Functions, MungeError> {
    static LIBRARY: OnceLock<Result<Functions, String>> = OnceLock::new();
    LIBRARY.get_or_init(open).as_ref().map_err(|message| MungeError::Library { message: message.clone() })
}

fn open() -> Result<Functions, String> {
    // SAFETY: the installed libmunge, which has no constructors.
    let library = unsafe { Library::open(Some(FILE_NAME), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| error.to_string())?;
    // SAFETY: each function is declared as in munge.h.
    unsafe {
        Ok(Functions {
            encode: function(&library, c"munge_encode")?,
            decode: function(&library, c"munge_decode")?,
            error: function(&library, c"munge_strerror")?,
            context_create: function(&library, c"munge_ctx_create")?,
            context_destroy: function(&library, c"munge_ctx_destroy")?,
            context_error: function(&library, c"munge_ctx_strerror")?,
            context_set: function(&library, c"munge_ctx_set")?,
            _library: library,
        })
    }
}

/// Looks a function up.
///
/// # Safety
/// `F` is the function's type.
unsafe fn function<F: Copy>(library: &Library, name: &CStr) -> Result<F, String> {
    // SAFETY: the caller vouches for the type.
    unsafe { library.get::<F>(name.to_bytes_with_nul()) }.map(|found| *found).map_err(|error| error.to_string())
}
