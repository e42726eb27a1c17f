//! A submission to the queue as a future.

use crate::context::Inner;
use crate::error::{Call, ErrorKind, Result};
use ash::vk;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

/// Work submitted to the device; a future of its result.
///
/// Polling never blocks: the first poll while the device is busy starts a thread that waits for the fence and wakes the
/// task. Dropping the submission waits for the device.
pub struct Submission<T> {
    work: Option<Work<T>>,
}

struct Work<T> {
    fence: Arc<Fence>,
    waiter: Option<Arc<Mutex<Waiter>>>,
    finish: Box<dyn FnOnce() -> Result<T> + Send>,
}

/// State shared by the waiting thread and the future.
#[derive(Default)]
struct Waiter {
    waker: Option<Waker>,
    done: Option<Result<()>>,
}

/// A fence, and the command pool whose buffer signals it.
pub(crate) struct Fence {
    raw: vk::Fence,
    pool: vk::CommandPool,
    context: Arc<Inner>,
}

impl Fence {
    /// Waits until the commands have run; [`ErrorKind::Timeout`](crate::ErrorKind::Timeout) after the context's timeout.
    fn wait(&self) -> Result<()> {
        let nanoseconds = u64::try_from(self.context.timeout.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the fence lives as long as `self`.
        match unsafe { self.context.device.wait_for_fences(&[self.raw], true, nanoseconds) } {
            Err(vk::Result::TIMEOUT) => Err(ErrorKind::Timeout.into()),
            other => other.call("vkWaitForFences"),
        }
    }

    fn is_signalled(&self) -> Result<bool> {
        // SAFETY: the fence lives as long as `self`.
        unsafe { self.context.device.get_fence_status(self.raw) }.call("vkGetFenceStatus")
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        // SAFETY: the last owner has either waited successfully or has leaked the objects in use.
        unsafe {
            self.context.device.destroy_fence(self.raw, None);
            self.context.device.destroy_command_pool(self.pool, None);
        }
    }
}

/// Records commands and submits them; `finish` produces the result once the device is done, and owns the objects in
/// use.
pub(crate) fn submit<T>(
    context: &Arc<Inner>,
    record: impl FnOnce(vk::CommandBuffer) -> Result<()>,
    finish: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<Submission<T>> {
    let device = &context.device;
    let info = vk::CommandPoolCreateInfo::default()
        .flags(vk::CommandPoolCreateFlags::TRANSIENT)
        .queue_family_index(context.family);
    // SAFETY: plain creation on a valid device; `Fence` destroys a fence created before a failure.
    let fence = unsafe {
        let pool = device.create_command_pool(&info, None).call("vkCreateCommandPool")?;
        let raw = device
            .create_fence(&vk::FenceCreateInfo::default(), None)
            .call("vkCreateFence");
        let raw = raw.inspect_err(|_| device.destroy_command_pool(pool, None))?;
        Arc::new(Fence {
            raw,
            pool,
            context: context.clone(),
        })
    };
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(fence.pool)
        .command_buffer_count(1);
    let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
    // SAFETY: the pool belongs to this submission, so no other thread records into it.
    let commands = unsafe {
        let commands = device
            .allocate_command_buffers(&info)
            .call("vkAllocateCommandBuffers")?[0];
        device
            .begin_command_buffer(commands, &begin)
            .call("vkBeginCommandBuffer")?;
        commands
    };
    record(commands)?;
    let buffers = [commands];
    let submit = vk::SubmitInfo::default().command_buffers(&buffers);
    let guard = context.submit_lock.lock().expect("no panic while submitting");
    // SAFETY: recording has ended; the lock guards the queue; `finish` keeps the objects that the commands use.
    unsafe {
        device.end_command_buffer(commands).call("vkEndCommandBuffer")?;
        device
            .queue_submit(context.queue, &[submit], fence.raw)
            .call("vkQueueSubmit")?;
    }
    drop(guard);
    Ok(Submission {
        work: Some(Work {
            fence,
            waiter: None,
            finish: Box::new(finish),
        }),
    })
}

impl<T> Submission<T> {
    /// Whether the device is done, so that [`wait`](Self::wait) returns at once.
    ///
    /// # Errors
    /// Device errors.
    ///
    /// # Panics
    /// If the future has already completed.
    pub fn is_done(&self) -> Result<bool> {
        let work = self.work.as_ref();
        let work = work.expect("a submission is not asked after it was ready");
        work.fence.is_signalled()
    }

    /// Waits for the device, and returns the result.
    ///
    /// # Errors
    /// [`ErrorKind::Timeout`] after the context's timeout, and device errors.
    ///
    /// # Panics
    /// If the future has already completed.
    pub fn wait(mut self) -> Result<T> {
        let work = self
            .work
            .take()
            .expect("a submission is not waited for after it was ready");
        let done = work.fence.wait();
        work.finish(done)
    }
}

impl<T> Work<T> {
    /// Whether the device is done; registers `waker` if not.
    fn poll(&mut self, waker: &Waker) -> Option<Result<()>> {
        let Some(waiter) = &self.waiter else {
            match self.fence.is_signalled() {
                Ok(true) => return Some(Ok(())),
                Ok(false) => {}
                Err(error) => return Some(Err(error)),
            }
            let waiter = Arc::new(Mutex::new(Waiter {
                waker: Some(waker.clone()),
                done: None,
            }));
            self.waiter = Some(waiter.clone());
            let fence = self.fence.clone();
            std::thread::spawn(move || {
                let done = fence.wait();
                // This thread must not be the fence's last owner once the future sees the device as done.
                drop(fence);
                let mut waiter = waiter.lock().expect("no panic while waiting");
                waiter.done = Some(done);
                if let Some(waker) = waiter.waker.take() {
                    waker.wake();
                }
            });
            return None;
        };
        let mut waiter = waiter.lock().expect("no panic while waiting");
        if waiter.done.is_none() {
            waiter.waker = Some(waker.clone());
        }
        waiter.done.take()
    }

    fn finish(self, done: Result<()>) -> Result<T> {
        match done {
            Ok(()) => (self.finish)(),
            Err(error) => {
                // The device may still run these commands: their objects are leaked rather than freed while in use.
                std::mem::forget(self.finish);
                std::mem::forget(self.fence);
                Err(error)
            }
        }
    }
}

impl<T> Future for Submission<T> {
    type Output = Result<T>;

    /// # Panics
    /// If polled after completion.
    fn poll(mut self: Pin<&mut Self>, context: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let work = self
            .work
            .as_mut()
            .expect("a submission is not polled after it was ready");
        match work.poll(context.waker()) {
            None => Poll::Pending,
            Some(done) => Poll::Ready(self.work.take().expect("it was there").finish(done)),
        }
    }
}

impl<T> Drop for Submission<T> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take()
            && let Err(_error) = work.fence.wait()
        {
            std::mem::forget(work);
        }
    }
}
