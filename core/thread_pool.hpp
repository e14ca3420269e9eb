// Threads that run the same function and synchronise between its phases.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace keypose {

class ThreadPool {
public:
    // `keep_going` is called regularly, only by the thread that called run(); false interrupts the work. It may be
    // null.
    ThreadPool(unsigned requested, bool (*keep_going)()) : requested_(requested), keep_going_(keep_going) {}

    // Calls work(thread) on every thread; returns false if interrupted. An exception in any thread stops all and is
    // rethrown here. If the system refuses a thread, the pool is smaller.
    template <class Work>
    bool run(Work work) {
        const auto run_guarded = [this, &work](unsigned thread) {
            try {
                work(thread);
            } catch (...) {
                std::lock_guard<std::mutex> lock(mutex_);
                if (!failure_) failure_ = std::current_exception();
                stop_locked();
            }
        };
        std::vector<std::thread> others;
        others.reserve(requested_);
        for (unsigned n = 1; n < requested_; ++n) {
            try {
                others.emplace_back([this, &run_guarded, n] {
                    wait_for_size();
                    run_guarded(n);
                });
            } catch (...) {  // the system has no more threads or memory
                break;
            }
        }
        {
            std::lock_guard<std::mutex> lock(mutex_);
            size_ = static_cast<unsigned>(others.size()) + 1;
        }
        condition_.notify_all();
        run_guarded(0);
        for (auto& other : others) other.join();
        if (failure_) std::rethrow_exception(failure_);
        return !stopped_;
    }

    // Barrier: waits for every thread; false once the work is stopped.
    bool wait_for_all() {
        if (size_ == 1) return !stopped_;
        std::unique_lock<std::mutex> lock(mutex_);
        const std::size_t round = round_;
        if (++waiting_ == size_) {
            waiting_ = 0;
            ++round_;
            condition_.notify_all();
        } else {
            condition_.wait(lock, [&] { return round != round_ || stopped_; });
        }
        return !stopped_;
    }

    // To be called in every loop: false once the work is stopped.
    bool should_continue(unsigned thread) {
        if (thread == 0 && keep_going_) {
            const auto now = std::chrono::steady_clock::now();
            if (now >= next_check_) {
                next_check_ = now + std::chrono::milliseconds(50);
                if (!keep_going_()) {
                    std::lock_guard<std::mutex> lock(mutex_);
                    stop_locked();
                }
            }
        }
        return !stopped_;
    }

private:
    void wait_for_size() {
        std::unique_lock<std::mutex> lock(mutex_);
        condition_.wait(lock, [&] { return size_ > 0; });
    }
    void stop_locked() {
        stopped_ = true;
        condition_.notify_all();
    }

    const unsigned requested_;
    bool (*const keep_going_)();
    unsigned size_ = 0, waiting_ = 0;
    std::size_t round_ = 0;
    std::atomic<bool> stopped_{false};
    std::exception_ptr failure_;
    std::chrono::steady_clock::time_point next_check_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::condition_variable condition_;
};

}  // namespace keypose
